"""Named data sets: catalog, download, check, readers, published splits."""
