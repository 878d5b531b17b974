-- Every schema belongs to the owner; what a role may do in one is granted beside the object (code/i_grants.sql).
CREATE SCHEMA staging;
CREATE SCHEMA research;
CREATE SCHEMA marts;
CREATE SCHEMA quality;
