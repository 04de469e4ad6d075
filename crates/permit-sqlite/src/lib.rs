//! Every storage port on one SQLite file.
