-- The service's own role and database: no superuser, so that row level security holds for it. An administrator runs
-- it once, with psql and CAUSEWAY_DB_PASSWORD in the environment; PostgreSQL's image does so at its first start.
\getenv password CAUSEWAY_DB_PASSWORD
-- CREATEROLE is for `causeway migrate` alone, which makes the roles that own nothing.
CREATE ROLE causeway LOGIN CREATEROLE NOBYPASSRLS PASSWORD :'password';
CREATE DATABASE causeway OWNER causeway TEMPLATE template0 ENCODING 'UTF8'
    LC_COLLATE 'C' LC_CTYPE 'C' LOCALE_PROVIDER builtin BUILTIN_LOCALE 'C.UTF-8';
REVOKE CONNECT ON DATABASE causeway FROM PUBLIC;
\connect causeway
CREATE EXTENSION vector;
