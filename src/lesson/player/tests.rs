//! Pages read back as a browser reads them.
