import type { CloneSetLifecycle, LifecycleHook, Pod } from '../../generated/types.ts'

export const lifecycleStateLabel = 'lifecycle.apps.kruise.io/state'
export const lifecycleTimeAnnotation = 'lifecycle.apps.kruise.io/timestamp'

/** The life-cycle states of a CloneSet's pod; '' for a pod without the label. */
export type LifecycleState =
  | ''
  | 'PreparingNormal'
  | 'Normal'
  | 'PreparingUpdate'
  | 'Updating'
  | 'Updated'
  | 'PreparingDelete'

/** The label's value. */
export const lifecycleStateOf = (pod: Pod): LifecycleState =>
  (pod.metadata.labels?.[lifecycleStateLabel] ?? '') as LifecycleState

interface Part {
  /** The state for messages. */
  text: string
  isOn: boolean
}

/** The labels and finalizers of a hook, and those that are on a pod. */
function partsOf(hook: LifecycleHook | undefined, { metadata: { finalizers = [], labels = {} } }: Pod): Part[] {
  return [
    ...(hook?.finalizersHandler ?? []).map((finalizer) => ({
      text: `finalizer ${finalizer}`,
      isOn: finalizers.includes(finalizer),
    })),
    ...Object.entries(hook?.labelsHandler ?? {}).map(([key, value]) => ({
      text: `label ${key}=${value}`,
      isOn: labels[key] === value,
    })),
  ]
}

/** True if a hook holds a pod: any of its labels or finalizers does. */
export const isHeld = (hook: LifecycleHook | undefined, pod: Pod): boolean =>
  partsOf(hook, pod).some(({ isOn }) => isOn)

/** True if a pod has all labels and finalizers of a hook. Without a hook, nothing is missing. */
export const isWhole = (hook: LifecycleHook | undefined, pod: Pod): boolean =>
  partsOf(hook, pod).every(({ isOn }) => isOn)

/** The hook that a pod waits for, as the predicate of a sentence; undefined if there is none. */
export function hookWait({ preNormal, inPlaceUpdate, preDelete }: CloneSetLifecycle, pod: Pod): string | undefined {
  const said = (words: string, hook: LifecycleHook | undefined, isOn: boolean): string | undefined => {
    const parts = partsOf(hook, pod).filter((part) => part.isOn === isOn)
    return parts.length > 0 ? `${words} ${parts.map(({ text }) => text).join(', ')}` : undefined
  }
  switch (lifecycleStateOf(pod)) {
    case 'PreparingDelete':
      return said('is held back from its deletion by', preDelete, true)
    case 'PreparingUpdate':
      return said('is held back from its update by', inPlaceUpdate, true)
    case 'Updated':
      return said('has been updated, and waits for', inPlaceUpdate, false)
    case 'PreparingNormal':
      return said('waits for', preNormal, false)
    default:
      return undefined
  }
}
