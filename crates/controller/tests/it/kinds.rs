//! What the API server says to objects of every kind: what it accepts, and what it tells those who wrote something wrong.

mod accepted;
mod refused;
mod server;
mod statuses;
