export { builtInEntries, parseCatalogue } from './catalogue.ts'
export type { CatalogueEntry } from './catalogue.ts'
export { ProcessRuntime } from './process-runtime.ts'
export type { ProcessRuntimeOptions } from './process-runtime.ts'
