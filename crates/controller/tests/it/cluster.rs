//! CAPT's own care for Clusters, where Cluster API is not. Networks and control planes are played by hand.

mod hands;
mod others;
mod stepping_back;
mod versions;
mod way_down;
mod way_up;
