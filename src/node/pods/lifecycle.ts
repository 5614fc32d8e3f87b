import type { Verdict } from '../status/generate-status.ts'

/** Why and how fast a pod is terminated. */
export interface End {
  /**
   * `deleted`: the pod has a deletion timestamp. `removed`: the API server no longer has the pod. `finished`: its
   * containers have ended for good. `judged`: the node ends it, for example by eviction.
   */
  readonly why: 'deleted' | 'removed' | 'finished' | 'judged'
  readonly graceSeconds: number
  /** The phase and reason that the status gets. Only a judged pod has one. */
  readonly verdict?: Verdict | undefined
}

/** The state of one pod on its node. States follow one another in this order; some are skipped. */
export type Lifecycle =
  /** The worker starts and restarts the pod's containers. */
  | { readonly kind: 'Syncing' }
  /** The containers and sandboxes are being stopped and the volumes unmounted. */
  | { readonly kind: 'Terminating'; readonly end: End }
  /** Nothing of the pod runs. Its final status stays in the API until the pod is deleted. */
  | { readonly kind: 'Terminated'; readonly end: End }
  /** The API server no longer has the pod. Its containers, sandboxes and directories are being removed. */
  | { readonly kind: 'Removing' }
  /** Nothing of the pod is left on the node, or the agent has stopped. */
  | { readonly kind: 'Gone' }

export type LifecycleInput =
  | { readonly kind: 'end'; readonly end: End }
  /** The `terminate` step is done. */
  | { readonly kind: 'terminated' }
  /** The `delete` step is done. */
  | { readonly kind: 'deleted' }
  /** The `remove` step is done. */
  | { readonly kind: 'removed' }
  /** The agent stops and leaves the pod as it is. */
  | { readonly kind: 'abandon' }

export type LifecycleEffect =
  /** Abort the step in progress. */
  | { readonly kind: 'interrupt'; readonly why: 'pod ends' | 'agent stops' }
  /** Shorten the grace period of containers that are already being stopped. */
  | { readonly kind: 'shorten grace'; readonly graceSeconds: number }
  /** Run the next step now, or right after the step in progress. */
  | { readonly kind: 'wake' }
  /** Cancel timers and probes and release what the pod refers to. */
  | { readonly kind: 'release' }
  /** Tell the agent that nothing of the pod is left. */
  | { readonly kind: 'tell gone' }

export type LifecycleStep = 'sync' | 'terminate' | 'delete' | 'remove' | 'none'

export const isEnding = ({ kind }: Lifecycle): boolean => kind !== 'Syncing'

/** True once nothing of the pod runs. */
export const hasEnded = ({ kind }: Lifecycle): boolean => kind !== 'Syncing' && kind !== 'Terminating'

/** True if the API server has the pod, as far as the node knows: its status is only written then. */
export const isInApi = (state: Lifecycle): boolean =>
  state.kind !== 'Removing' && state.kind !== 'Gone' && endOf(state)?.why !== 'removed'

export const endOf = (state: Lifecycle): End | undefined => ('end' in state ? state.end : undefined)

/** The step that a worker runs in a state. */
export function stepOf(state: Lifecycle): LifecycleStep {
  switch (state.kind) {
    case 'Syncing':
      return 'sync'
    case 'Terminating':
      return 'terminate'
    case 'Terminated':
      return state.end.why === 'deleted' ? 'delete' : 'none'
    case 'Removing':
      return 'remove'
    case 'Gone':
      return 'none'
  }
}

export interface Transition {
  readonly state: Lifecycle
  readonly effects: readonly LifecycleEffect[]
}

const wake: LifecycleEffect = { kind: 'wake' }

/** The next state for an input, and the effects that the worker carries out in order. */
export function transition(state: Lifecycle, input: LifecycleInput): Transition {
  const same: Transition = { state, effects: [] }
  if (state.kind === 'Gone') return same
  switch (input.kind) {
    case 'end':
      return state.kind === 'Removing' ? same : terminate(state, input.end)
    case 'terminated':
      return state.kind === 'Terminating' ? { state: ended(state.end), effects: [wake] } : same
    case 'deleted':
      return state.kind === 'Terminated' ? { state: { kind: 'Removing' }, effects: [wake] } : same
    case 'removed':
      if (state.kind !== 'Removing') return same
      return { state: { kind: 'Gone' }, effects: [{ kind: 'release' }, { kind: 'tell gone' }] }
    case 'abandon':
      return { state: { kind: 'Gone' }, effects: [{ kind: 'release' }, { kind: 'interrupt', why: 'agent stops' }] }
  }
}

function terminate(state: Exclude<Lifecycle, { kind: 'Removing' | 'Gone' }>, end: End): Transition {
  if (state.kind === 'Syncing')
    return { state: { kind: 'Terminating', end }, effects: [{ kind: 'interrupt', why: 'pod ends' }, wake] }
  // A pod that is ending already can only be deleted or removed as well. The grace period never grows.
  if (end.why !== 'deleted' && end.why !== 'removed') return { state, effects: [] }
  const { verdict, graceSeconds } = state.end
  const sooner: End = { why: end.why, graceSeconds: Math.min(graceSeconds, end.graceSeconds), verdict }
  if (state.kind === 'Terminated') return { state: ended(sooner), effects: [wake] }
  const shorten: LifecycleEffect[] =
    end.graceSeconds < graceSeconds ? [{ kind: 'shorten grace', graceSeconds: end.graceSeconds }] : []
  return { state: { kind: 'Terminating', end: sooner }, effects: [...shorten, wake] }
}

const ended = (end: End): Lifecycle => (end.why === 'removed' ? { kind: 'Removing' } : { kind: 'Terminated', end })
