// The search shows excerpts of the pages, which a browser may not fetch from a folder.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
