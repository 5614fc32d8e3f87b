import type { Job } from '../../../src/api/generated/types.ts'
import type { KubeObject } from '../../../src/api/object.ts'
import { describe } from '../call.ts'
import type { Invariant, Verdict } from '../invariant.ts'
import type { World } from '../world.ts'
import { type Knowledge, KnowledgeKeeper, type Surroundings } from './knowledge.ts'
import { judgeNames } from './names.ts'
import { type Condition, certaintyOf, conditionOf, isSelected, managerOf, msOf, secondOf } from './reading.ts'

const types = ['Waiting', 'Running', 'Suspended', 'Complete', 'Failed']

/** Evaluates the conditions of a Job by the knowledge of their writer. */
export function judgeJob(job: Job, previous: KubeObject, knowledge: Knowledge): Verdict {
  const said = (type: string): string => conditionOf(job, type)?.status ?? 'False'
  const isOver = said('Complete') === 'True' || said('Failed') === 'True'
  if (said('Complete') === 'True' && said('Failed') === 'True') return 'says Complete and Failed at once'
  const lost = ['Complete', 'Failed'].find((type) => conditionOf(previous, type)?.status === 'True' && said(type) !== 'True')
  if (lost) return `takes ${lost} back`
  return judgePhase(job, isOver, said, knowledge.views) ?? judgeTimes(job, previous, knowledge.atMs) ?? judgeMessages(job, previous, knowledge)
}

/** Running: a pod runs. Waiting: none does, and one is to, or the Job is suspended. Neither, once it is over. */
function judgePhase(job: Job, isOver: boolean, said: (type: string) => string, views: readonly Surroundings[]): Verdict {
  const own = ({ pods }: Surroundings) => pods.filter((pod) => managerOf(pod) === job.metadata.uid && isSelected(pod, job.spec.selector?.matchLabels))
  const has = (phase: string) => certaintyOf(views.map((around) => own(around).some((pod) => (pod.status?.phase ?? 'Pending') === phase)))
  const [isRunning, isPending] = [has('Running'), has('Pending')]
  const [running, waiting] = [said('Running'), said('Waiting')]
  if (isOver) return running === 'False' && waiting === 'False' ? undefined : `is over, and says Running ${running} and Waiting ${waiting}`
  if (running === 'True' && isRunning === 'no') return 'says that it runs, and no pod does'
  if (running === 'False' && isRunning === 'yes') return 'says that it does not run, and a pod does'
  if (job.spec.suspend) return waiting === 'True' ? undefined : 'is suspended, and says that it does not wait'
  if (running === 'True' && waiting === 'True') return 'says that it runs and waits'
  if (waiting === 'True' && isPending === 'no') return 'says that it waits, and no pod is to run'
  return waiting === 'False' && isRunning === 'no' && isPending === 'yes' ? 'says that it does not wait, and a pod is to run' : undefined
}

function judgeTimes(job: Job, previous: KubeObject, atMs: number): Verdict {
  for (const type of types) {
    const [was, is] = [conditionOf(previous, type), conditionOf(job, type)]
    const dueMs = was?.status === is?.status ? msOf(was?.lastTransitionTime) : secondOf(atMs)
    if (is && msOf(is.lastTransitionTime) !== dueMs) return `says that ${type} turned at ${is.lastTransitionTime}, and it was at ${new Date(dueMs).toISOString()}`
  }
  return undefined
}

function judgeMessages(job: Job, previous: KubeObject, { views }: Knowledge): Verdict {
  for (const { type, message } of (job.status.conditions ?? []) as Condition[]) {
    const isKept = !['Waiting', 'Running'].includes(type) && conditionOf(previous, type)?.message === message
    const verdict = isKept ? undefined : judgeNames(message, views)
    if (verdict) return `${verdict}, in ${type}: ${message}`
  }
  return undefined
}

/** Judges what Jobs say of themselves whenever a manager writes it and, in the end, by what is true. */
export function jobConditionRules(): Invariant[] {
  const keeper = new KnowledgeKeeper()
  return [
    {
      name: 'every condition follows from what its writer saw',
      happened: (call, world) => void keeper.happened(call, world),
      answered: (call, world) => void keeper.answered(call, world),
      sent(call, world): Verdict {
        const life = world.lives.get(call.process)
        const job = call.plural === 'jobs' && call.method === 'PUT' && call.subresource === 'status' ? (call.body as Job) : undefined
        const observation = life?.observations.get(job?.metadata.uid ?? '')
        if (!life || !job || !observation) return undefined
        const previous = world.truth.change(Number(job.metadata.resourceVersion))?.after ?? observation.owner
        const verdict = judgeJob(job, previous, keeper.of(call, previous, observation, world))
        return verdict && `${life.identity} ${describe(call)}, which ${verdict}`
      },
    },
    { name: 'conditions tell the truth in the end', unfinished: judgeTruth },
  ]
}

function judgeTruth(world: World): Verdict {
  for (const job of world.truth.list('jobs') as Job[]) {
    const verdict = job.metadata.deletionTimestamp ? undefined : judgeJob(job, job, KnowledgeKeeper.ofTruth(job, world.timeline.nowMs, world))
    if (verdict) return `${job.metadata.name} ${verdict}`
  }
  return undefined
}
