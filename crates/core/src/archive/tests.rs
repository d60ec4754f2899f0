mod document;
mod objects;
mod references;
