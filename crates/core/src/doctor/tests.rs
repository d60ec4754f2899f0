mod clusters;
mod definitions;
mod places;
mod states;
