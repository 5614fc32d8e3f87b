import type { SimulatedController } from '../simulated-controller.ts'
import { claimRecoveryScenario } from './claim-recovery.ts'
import { claims } from './claims.ts'
import { cloneSetScenario } from './clone-sets.ts'
import { crew } from './crew.ts'
import { daemonSetScenario } from './daemon-sets.ts'
import { demonstration } from './demonstration.ts'
import { deploymentScenario } from './deployments.ts'
import { garbage } from './garbage.ts'
import { jobScenario } from './jobs.ts'
import { replicas } from './replicas.ts'
import { schedulingScenario } from './scheduling.ts'
import { statefulSetScenario } from './stateful-sets.ts'

/** Controllers that run together, by name. A run simulates one of these. */
export const scenarios: Readonly<Record<string, readonly SimulatedController[]>> = {
  demonstration: [demonstration],
  crew: [crew],
  claims: [claims],
  'claim-recovery': [claimRecoveryScenario],
  garbage: [garbage],
  'clone-sets': [cloneSetScenario],
  'daemon-sets': [daemonSetScenario],
  deployments: [deploymentScenario],
  jobs: [jobScenario],
  replicas: [replicas],
  scheduling: [schedulingScenario],
  'stateful-sets': [statefulSetScenario],
}

/** `any` leaves it to the seed. */
export const scenarioNames: readonly string[] = ['any', ...Object.keys(scenarios)]
