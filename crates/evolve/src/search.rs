//! The algorithms of the Population Manager, by ask and tell.
