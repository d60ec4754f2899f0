//! What the API server says to objects of every kind.
