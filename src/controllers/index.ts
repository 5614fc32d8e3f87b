export { catalogue } from './catalogue.ts'
export type { CatalogueEntry, ControllerSettings } from './catalogue.ts'
export * from './kit/index.ts'
export { selectControllers } from './selection.ts'
