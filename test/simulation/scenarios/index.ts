import type { SimulatedController } from '../simulated-controller.ts'
import { crew } from './crew.ts'
import { demonstration } from './demonstration.ts'

/** Controllers that run together, by name. A run simulates one of these. */
export const scenarios: Readonly<Record<string, readonly SimulatedController[]>> = {
  demonstration: [demonstration],
  crew: [crew],
}

/** `any` leaves it to the seed. */
export const scenarioNames: readonly string[] = ['any', ...Object.keys(scenarios)]
