import type { AnyController } from './kit/index.ts'

/** What controllers are told by whoever runs them. */
export interface ControllerSettings {
  /** The certificates that vouch for the API server, in PEM. */
  rootCa: string
}

/** A controller, or one that depends on how it is run. */
export type CatalogueEntry = AnyController | ((settings: ControllerSettings) => AnyController)

/** Every controller there is, by the name that `--controllers` knows it by, in the order of its kinds' dependence on each other. */
export const catalogue: Readonly<Record<string, CatalogueEntry>> = {}
