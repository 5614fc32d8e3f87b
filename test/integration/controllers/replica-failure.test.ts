import { expect, it } from 'vitest'
import { pods, resourcequotas } from '../../../src/client/index.ts'
import { container, unready, waiting } from './cause-row.ts'
import { CauseScene } from './cause-scene.ts'
import { type AnyWorkload, type KindName, kindOf } from './every-kind-scene.ts'

/** The conditions ReplicaFailure of the written statuses, without repetitions. */
function record(s: CauseScene, name: KindName): string[] {
  const told: string[] = []
  const path = `/${kindOf(name).type.plural}/${name}/status`
  s.scene.wire.intercept = async (request, send) => {
    const answer = (await send()) as AnyWorkload
    if (request.method !== 'GET' && request.path.endsWith(path)) {
      const failure = answer.status?.conditions?.find(({ type }) => type === 'ReplicaFailure')
      const text = failure ? `${failure.reason}` : 'none'
      if (told.at(-1) !== text) told.push(text)
    }
    return answer as never
  }
  return told
}

/** A workload of three replicas of which a quota lets two be made. */
async function refused(name: KindName): Promise<CauseScene> {
  const s = await CauseScene.start()
  const quota = { metadata: { name: 'small', namespace: 'default' }, spec: { hard: { pods: '2' } } }
  await s.client.create(resourcequotas, quota as never)
  await s.pass(1000)
  await s.create(name, {}, { replicas: 3 })
  for (let i = 0; i < 2; i++) {
    for (const pod of await s.pods(name)) await s.ready(pod)
    await s.pass(1000)
  }
  return s
}

const kinds = ['deployment', 'replicaset', 'replicationcontroller', 'statefulset', 'parallel', 'cloneset'] as const

it.each(kinds)('a %s says for as long as it is refused a pod that it is, also while another pod starts', async (name) => {
  const s = await refused(name)
  const told = record(s, name)
  expect(await s.condition(name, 'ReplicaFailure')).toMatchObject({ status: 'True', reason: 'FailedCreate' })
  const lost = (await s.pods(name)).at(-1)!
  await s.client.delete(pods, 'default', lost.metadata.name!, { gracePeriodSeconds: 0 })
  await s.pass(1000)
  await s.reap(name)
  await s.pass(1000)
  for (const pod of await s.pods(name)) await s.ready(pod)
  await s.pass(5000)
  expect(new Set(told)).toEqual(new Set(['FailedCreate']))
  await s.client.patch(resourcequotas, 'default', 'small', { spec: { hard: { pods: '9' } } }, { type: 'merge' })
  await s.pass(300_000)
  for (const pod of await s.pods(name)) await s.ready(pod)
  await s.pass(1000)
  expect(await s.condition(name, 'ReplicaFailure')).toBeUndefined()
})

it('a StatefulSet names the pod in trouble for which it does not ask for the refused one again', async () => {
  const s = await refused('statefulset')
  const [first] = await s.pods('statefulset')
  const containerStatuses = [container(waiting('ErrImagePull', 'no'))]
  const status = { phase: 'Pending', conditions: [unready(s.now)], containerStatuses }
  await s.report(first!, status)
  await s.pass(1000)
  expect(await s.condition('statefulset', 'ReplicaFailure')).toBeUndefined()
  expect((await s.condition('statefulset', 'Available'))!.message).toContain('Pod statefulset-0 cannot pull image')
})
