//! Soccer over real sockets, against the built binary.
