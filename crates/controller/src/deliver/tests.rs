mod claims;
mod definitions;
mod inventories;
mod objects;
mod refusals;
mod removal;
mod stage;
mod unreachable;
