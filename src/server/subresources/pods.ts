import type { Action } from './action.ts'
import { podBinding } from './pod-binding.ts'
import { podEviction } from './pod-eviction.ts'
import { podAttach, podExec, podLog, podPortForward } from './pod-streams.ts'

/** What can be done with a pod besides reading and writing it. */
export const podActions: readonly Action[] = [podAttach, podBinding, podEviction, podExec, podLog, podPortForward]
