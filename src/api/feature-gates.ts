/** The component that a gate affects. */
type GateUser = 'apiserver' | 'controllers' | 'node' | 'monitor'

export type GateStage = 'ALPHA' | 'BETA' | ''

export interface Gate {
  stage: GateStage
  default: boolean
  usedBy: readonly GateUser[]
  /** GA gates, which can no longer be changed. */
  locked?: boolean
  does: string
}

/** All feature gates. A test compares docs/feature-gates.md with this table. */
export const knownGates = {
  CoordinatedLeaderElection: {
    stage: 'BETA',
    default: false,
    usedBy: ['apiserver'],
    does: 'the kind LeaseCandidate (coordination.k8s.io/v1beta1), which is stored and validated; the server elects no leader',
  },
  DaemonSetConditions: {
    stage: 'BETA',
    default: true,
    usedBy: ['apiserver', 'controllers'],
    does: 'progressDeadlineSeconds and the conditions Progressing, Available and ReplicaFailure of DaemonSets',
  },
  StatefulSetConditions: {
    stage: 'BETA',
    default: true,
    usedBy: ['apiserver', 'controllers'],
    does: 'progressDeadlineSeconds and the conditions Progressing, Available and ReplicaFailure of StatefulSets',
  },
  MaxUnavailableStatefulSet: {
    stage: 'BETA',
    default: true,
    usedBy: ['apiserver', 'controllers'],
    does: 'rollingUpdate.maxUnavailable of StatefulSets',
  },
  PodReadyToStartContainersCondition: {
    stage: 'BETA',
    default: true,
    usedBy: ['node'],
    does: 'the condition PodReadyToStartContainers of pods; off, it is not computed, and what is stored stays',
  },
  StaleControllerConsistency: {
    stage: 'BETA',
    default: true,
    usedBy: ['controllers'],
    does: 'no controller decides before its caches have seen its own writes',
  },
  StaleControllerConsistencyCloneSet: {
    stage: 'BETA',
    default: true,
    usedBy: ['controllers'],
    does: 'the same for the controller of CloneSets alone; needs StaleControllerConsistency',
  },
  StaleControllerConsistencyCronJob: {
    stage: 'BETA',
    default: true,
    usedBy: ['controllers'],
    does: 'the same for the controller of CronJobs alone; needs StaleControllerConsistency',
  },
  StaleControllerConsistencyDaemonSet: {
    stage: 'BETA',
    default: true,
    usedBy: ['controllers'],
    does: 'the same for the controller of DaemonSets alone; needs StaleControllerConsistency',
  },
  StaleControllerConsistencyDeployment: {
    stage: 'BETA',
    default: true,
    usedBy: ['controllers'],
    does: 'the same for the controller of Deployments alone; needs StaleControllerConsistency',
  },
  StaleControllerConsistencyJob: {
    stage: 'BETA',
    default: true,
    usedBy: ['controllers'],
    does: 'the same for the controller of Jobs alone; needs StaleControllerConsistency',
  },
  StaleControllerConsistencyReplicaSet: {
    stage: 'BETA',
    default: true,
    usedBy: ['controllers'],
    does: 'the same for the controller of ReplicaSets alone; needs StaleControllerConsistency',
  },
  StaleControllerConsistencyStatefulSet: {
    stage: 'BETA',
    default: true,
    usedBy: ['controllers'],
    does: 'the same for the controller of StatefulSets alone; needs StaleControllerConsistency',
  },
} as const satisfies Record<string, Gate>

export type GateName = keyof typeof knownGates

const isKnown = (name: string): name is GateName => Object.hasOwn(knownGates, name)

/** The state of all gates. Immutable. */
export class FeatureGates {
  readonly #on: ReadonlyMap<GateName, boolean>

  private constructor(on: ReadonlyMap<GateName, boolean>) {
    this.#on = on
  }

  /** All gates with their defaults, except for the given ones. */
  static of(overrides: Partial<Record<GateName, boolean>> = {}): FeatureGates {
    const on = new Map<GateName, boolean>()
    for (const name of Object.keys(knownGates) as GateName[]) on.set(name, overrides[name] ?? knownGates[name].default)
    return new FeatureGates(on)
  }

  /** Parses `A=true,B=false`. Throws an error for the user if a name is unknown or a value is not a boolean. */
  static parse(text: string): FeatureGates {
    const overrides: Partial<Record<GateName, boolean>> = {}
    for (const part of text
      .split(',')
      .map((p) => p.trim())
      .filter((p) => p !== '')) {
      const at = part.indexOf('=')
      if (at < 0) throw new Error(`missing bool value for ${part}`)
      const name = part.slice(0, at).trim()
      const value = part.slice(at + 1).trim()
      if (!isKnown(name)) throw new Error(`unrecognized feature gate: ${name}`)
      const isOn = parseBool(value)
      if (isOn === undefined)
        throw new Error(
          `invalid value of ${name}=${value}, err: strconv.ParseBool: parsing ${JSON.stringify(value)}: invalid syntax`,
        )
      const gate: Gate = knownGates[name]
      if (gate.locked && isOn !== gate.default)
        throw new Error(`cannot set feature gate ${name} to ${isOn}, feature is locked to ${gate.default}`)
      overrides[name] = isOn
    }
    return FeatureGates.of(overrides)
  }

  enabled(name: GateName): boolean {
    return this.#on.get(name) === true
  }

  /** All gates with their states, sorted by name. */
  all(): { name: GateName; stage: GateStage; enabled: boolean }[] {
    return [...this.#on]
      .map(([name, enabled]) => ({ name, stage: knownGates[name].stage as GateStage, enabled }))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
  }
}

/** The values that Go's strconv.ParseBool accepts. */
function parseBool(text: string): boolean | undefined {
  if (['1', 't', 'T', 'true', 'TRUE', 'True'].includes(text)) return true
  if (['0', 'f', 'F', 'false', 'FALSE', 'False'].includes(text)) return false
  return undefined
}
