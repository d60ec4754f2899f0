mod changes;
mod deliveries;
mod receiver;
mod waiting;
