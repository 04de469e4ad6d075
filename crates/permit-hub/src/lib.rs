//! The gateway's end of the link: attached executions, epochs and deadlines.
