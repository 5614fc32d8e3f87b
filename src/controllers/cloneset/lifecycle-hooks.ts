import type { CloneSetLifecycle, LifecycleHook, Pod } from '../../api/generated/types.ts'
import type { LifecycleState } from './actions.ts'

interface Part {
  /** In words. */
  text: string
  isOn: boolean
}

/** What a hook consists of, and what of it is on a pod. */
function partsOf(hook: LifecycleHook | undefined, { metadata: { finalizers = [], labels = {} } }: Pod): Part[] {
  return [
    ...(hook?.finalizersHandler ?? []).map((finalizer) => ({ text: `finalizer ${finalizer}`, isOn: finalizers.includes(finalizer) })),
    ...Object.entries(hook?.labelsHandler ?? {}).map(([key, value]) => ({ text: `label ${key}=${value}`, isOn: labels[key] === value })),
  ]
}

/** Whether a hook keeps a pod from what it is about: any of it does. */
export const isHeld = (hook: LifecycleHook | undefined, pod: Pod): boolean => partsOf(hook, pod).some(({ isOn }) => isOn)

/** Whether all that belongs to a hook is on a pod. Without a hook, nothing is missing. */
export const isWhole = (hook: LifecycleHook | undefined, pod: Pod): boolean => partsOf(hook, pod).every(({ isOn }) => isOn)

/** Which hook a pod waits for in its state, in words; undefined if it waits for none. */
export function hookWait({ preNormal, inPlaceUpdate, preDelete }: CloneSetLifecycle, pod: Pod, state: LifecycleState): string | undefined {
  const said = (words: string, hook: LifecycleHook | undefined, isOn: boolean): string | undefined => {
    const parts = partsOf(hook, pod).filter((part) => part.isOn === isOn)
    return parts.length > 0 ? `pod ${pod.metadata.name} ${words} ${parts.map(({ text }) => text).join(', ')}` : undefined
  }
  switch (state) {
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

/** What a pod's next state depends on, besides its hooks. */
export interface Headway {
  /** It is of the revision that is wanted. */
  isUpdated: boolean
  /** Its containers are what it says they should be. */
  isThrough: boolean
}

/** The state that follows a pod's own once what it waits for has happened; undefined while it waits. */
export function nextState(state: LifecycleState, pod: Pod, hooks: CloneSetLifecycle, { isUpdated, isThrough }: Headway): LifecycleState | undefined {
  const afterUpdate = isWhole(hooks.inPlaceUpdate, pod) ? 'Normal' : 'Updated'
  switch (state) {
    case 'PreparingNormal':
      return isWhole(hooks.preNormal, pod) ? 'Normal' : undefined
    case 'PreparingUpdate':
      // It was to be updated, and then what it is was wanted again.
      return isUpdated ? afterUpdate : undefined
    case 'Updating':
      return isThrough ? afterUpdate : undefined
    case 'Updated':
      return afterUpdate === 'Normal' ? 'Normal' : undefined
    default:
      return undefined
  }
}
