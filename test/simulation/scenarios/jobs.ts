import type { Job, Pod } from '../../../src/api/generated/types.ts'
import { jobs, pods } from '../../../src/client/index.ts'
import { jobController } from '../../../src/controllers/job/controller.ts'
import { orphanPodController } from '../../../src/controllers/job/orphan-pods.ts'
import { isPodActive } from '../../../src/controllers/kit/workload/index.ts'
import { type Family, neverTooMany } from '../owned-children.ts'
import type { SimulatedController, UserAction } from '../simulated-controller.ts'
import type { World } from '../world.ts'
import { jobConditionRules } from '../oracle/job-conditions.ts'
import { endPods } from './crew.ts'
import { jobRules } from './job-rules.ts'
import { deleteSome } from './replica-sets.ts'
import { liftLimits, limitPods, quietInTheEnd, troubleOf } from './troubles.ts'

const names = ['a', 'b', 'c']

const family: Family = {
  owner: jobs,
  child: pods,
  wantedBy: (job) => (job as Job).spec.parallelism ?? 1,
  counts: (pod) => isPodActive(pod as Pod),
}

const changeSome = (name: string, weight: number, change: (world: World, pick: (most: number) => number) => object): UserAction => ({
  name,
  weight,
  async run(client, random, world) {
    const all = world.truth.list(jobs.plural)
    if (all.length === 0) return
    await client.patch(jobs, 'default', random.pick(all).metadata.name!, { spec: change(world, (most) => 1 + random.below(most)) }, { type: 'merge' })
  },
})

/** Without a free name it has no effect. */
const createJob: UserAction = {
  name: 'creates a job',
  weight: 6,
  async run(client, random, world) {
    const free = names.filter((name) => !world.truth.get(jobs.plural, `default/${name}`))
    if (free.length === 0) return
    await client.create(jobs, {
      metadata: { name: random.pick(free), namespace: 'default' },
      spec: {
        completions: 1 + random.below(4),
        parallelism: 1 + random.below(3),
        backoffLimit: random.pick([1, 4]),
        ...(random.below(3) === 0 ? { completionMode: 'Indexed' } : {}),
        template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: random.below(6) === 0 ? 'registry.example/absent:1' : 'registry.example/app:1' }] } },
      },
    })
  },
}

/** Its pods stay: there is no garbage collector here. */
const deleteJob: UserAction = {
  name: 'deletes a job',
  weight: 2,
  async run(client, random, world) {
    const all = world.truth.list(jobs.plural)
    if (all.length > 0) await client.delete(jobs, 'default', random.pick(all).metadata.name!, { propagationPolicy: 'Background' })
  },
}

/** Nodes on which pods run for some seconds and end, well or not; after the faults all end well. */
function runPods(world: World): void {
  const random = world.random.fork('nodes')
  const report = (name: string, uid: string, status: object) =>
    world.userClient.patch(pods, 'default', name, { metadata: { uid }, status }, { type: 'merge', subresource: 'status' })
  const soon = (name: string, uid: string, act: () => Promise<unknown>) => {
    world.timeline.after(500 + random.below(4000), () => {
      if (world.truth.get(pods.plural, `default/${name}`)?.metadata.uid !== uid) return
      act().catch(() => soon(name, uid, act))
    })
  }
  world.truth.onChange(({ plural, before, after }) => {
    if (plural !== pods.plural || before || !after) return
    const { name = '', uid = '' } = after.metadata
    if (troubleOf((after as Pod).spec)) {
      const waiting = { reason: 'ErrImagePull', message: 'no such image' }
      return soon(name, uid, () => report(name, uid, { phase: 'Pending', containerStatuses: [{ name: 'main', image: '', imageID: '', restartCount: 0, ready: false, state: { waiting } }] }))
    }
    soon(name, uid, async () => {
      await report(name, uid, { phase: 'Running' })
      const isBad = random.below(4) === 0
      soon(name, uid, () => report(name, uid, { phase: isBad && world.faults.isOn ? 'Failed' : 'Succeeded' }))
    })
  })
}

/** Jobs whose pods end while everything around them goes wrong: each end is counted, and once. */
export const jobScenario: SimulatedController = {
  name: 'jobs',
  controllers: () => [jobController, orphanPodController],
  touched: [jobs, pods],
  userActions: [
    createJob,
    changeSome('changes the parallelism of a job', 3, (_, pick) => ({ parallelism: pick(3) })),
    changeSome('suspends a job', 1, () => ({ suspend: true })),
    changeSome('resumes a job', 2, () => ({ suspend: false })),
    deleteJob,
    limitPods,
    deleteSome(pods, 1),
  ],
  actor(world) {
    runPods(world)
    liftLimits(world)
    endPods(world)
  },
  invariants: () => [neverTooMany(family, new Map()), ...jobRules(), ...jobConditionRules(), quietInTheEnd()],
}
