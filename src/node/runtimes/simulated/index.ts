export { simulatedProber } from './simulated-prober.ts'
export { SimulatedRuntime } from './simulated-runtime.ts'
export type { SimulatedRuntimeOptions } from './simulated-runtime.ts'
