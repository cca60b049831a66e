-- The service's own roles and database: `causeway` owns the tables and is no superuser, so that row level security holds
-- for it; requests log in as `causeway_requests`, which owns nothing. An administrator runs it once, with psql and
-- CAUSEWAY_DB_PASSWORD in the environment; PostgreSQL's image does so at its first start.
\getenv password CAUSEWAY_DB_PASSWORD
-- CREATEROLE is for `causeway migrate` alone, which makes the roles that own nothing.
CREATE ROLE causeway LOGIN CREATEROLE NOBYPASSRLS PASSWORD :'password';
CREATE ROLE causeway_app NOLOGIN NOBYPASSRLS ADMIN causeway;
CREATE ROLE causeway_worker NOLOGIN NOBYPASSRLS ADMIN causeway;
CREATE ROLE causeway_requests LOGIN NOINHERIT NOBYPASSRLS PASSWORD :'password' IN ROLE causeway_app, causeway_worker;
CREATE DATABASE causeway OWNER causeway TEMPLATE template0 ENCODING 'UTF8'
    LC_COLLATE 'C' LC_CTYPE 'C' LOCALE_PROVIDER builtin BUILTIN_LOCALE 'C.UTF-8';
REVOKE CONNECT ON DATABASE causeway FROM PUBLIC;
GRANT CONNECT ON DATABASE causeway TO causeway_requests;
\connect causeway
CREATE EXTENSION vector;
