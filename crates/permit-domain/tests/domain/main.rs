//! The domain from outside: the state machine in every interleaving of a small world, and the
//! stable text of what is stored and sent.

#[cfg(test)]
mod model;
#[cfg(test)]
mod records;
#[cfg(test)]
mod tables;
