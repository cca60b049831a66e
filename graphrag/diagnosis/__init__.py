"""Read-only checks of an installation, as `causeway doctor` reports them."""
