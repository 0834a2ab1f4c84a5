/** What the package `@fermata/models` offers. */
export {};
