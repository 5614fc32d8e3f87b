import { type Cause, type CauseKind, detail } from './cause.ts'

/** A request of the workload's controller that the API server rejected. Only the newest one counts. */
export interface Refusal {
  what: Extract<CauseKind, 'CreateRefused' | 'DeleteRefused' | 'UpdateRefused'>
  message: string
  since?: string
}

interface Told {
  type: string
  status: string
  reason?: string
  message?: string
  lastTransitionTime?: string | null
}

const refusals: Readonly<Record<string, Refusal['what']>> = {
  FailedCreate: 'CreateRefused',
  FailedDelete: 'DeleteRefused',
  FailedUpdate: 'UpdateRefused',
}

/** The refusal according to the conditions: ReplicaFailure, FailedUpdate of a CloneSet, Waiting or Running of a Job. */
export function refusalOf(conditions: readonly Told[] | null | undefined): Refusal | undefined {
  const find = (type: string) => conditions?.find((c) => c.type === type)
  const failure = find('ReplicaFailure') ?? find('FailedUpdate')
  if (failure?.status === 'True' && failure.message) {
    const since = failure.lastTransitionTime
    const what = refusals[failure.reason ?? ''] ?? 'CreateRefused'
    return { what, message: failure.message, ...(since ? { since } : {}) }
  }
  for (const type of ['Waiting', 'Running']) {
    const [, message] = jobForm.exec(find(type)?.message ?? '') ?? []
    if (message) return { what: 'CreateRefused', message }
  }
  return undefined
}

/** Jobs have no ReplicaFailure. Their messages about pods end with the sentence about the refusal. */
const jobForm = /\bJob \S+ cannot create a pod: ([^]*)\.$/

const verbs: Record<Refusal['what'], string> = {
  CreateRefused: 'create',
  DeleteRefused: 'delete',
  UpdateRefused: 'update',
}

const help: Record<Refusal['what'], string> = {
  CreateRefused: 'Raise the quota, or correct what the message names; the controller retries.',
  DeleteRefused: 'Correct what the message names; the controller retries.',
  UpdateRefused: 'Correct what the message names, or let the pods be re-created instead.',
}

/** The refusal as a cause, whose object is the workload. */
export const refusalWords = ({ what, message }: Refusal): Pick<Cause, 'text' | 'help'> => ({
  text: `cannot ${verbs[what]} a pod${detail(undefined, message)}`,
  help: help[what],
})
