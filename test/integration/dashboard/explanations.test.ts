import { describe, expect, it } from 'vitest'
import { ApiError } from '../../../src/api/errors.ts'
import type { ApiRequest, Transport } from '../../../src/client/index.ts'
import { deployments } from '../../../src/client/index.ts'
import { Explanations } from '../../../src/dashboard/board/explanations.ts'
import type { Viewer } from '../../../src/dashboard/login/viewer.ts'
import { kindNamed } from '../../../src/insight/workload/kinds.ts'
import { DashboardScene, reads } from './scene.ts'

const everything = [reads(['*'], '*')]

/** A scene with a broken Deployment, explanations that cost `costMs` each, and the lists of budgets that they read. */
async function scene(costMs: number) {
  const started = await DashboardScene.start()
  await started.node('n1')
  await started.deployment('web', 2)
  await started.report({ waiting: 'ImagePullBackOff', message: 'no such image' }, 'web')
  let stopwatchMs = 0
  const explanations = new Explanations(started.running.caches, started.clock, () => (stopwatchMs += costMs))
  let reads = 0
  const counting = (transport: Transport): Transport => {
    const send = transport.send.bind(transport)
    transport.send = <T>(request: ApiRequest) => {
      if (request.path.endsWith('/poddisruptionbudgets')) reads++
      return send<T>(request)
    }
    return transport
  }
  const viewer = (name: string) => started.viewer(name, counting)
  const explain = async (to: Viewer) => explanations.of(to, kindNamed('Deployment'), (await started.cluster.client.get(deployments, 'default', 'web')) as never)
  return { started, viewer, explain, reads: () => reads }
}

describe('Explanations', () => {
  it('are shared by viewers with the same permissions, and made again after fifty times their cost', async () => {
    const { started, viewer, explain, reads: made } = await scene(100)
    await started.allow('jane', everything)
    await started.allow('joe', everything)
    const [jane, joe] = [await viewer('jane'), await viewer('joe')]
    const explained = await Promise.all([explain(jane), explain(joe), explain(jane)])
    expect(explained[0]!.causes[0]).toMatchObject({ what: 'ImagePull', others: [expect.any(String)] })
    expect([explained[1], explained[2]]).toEqual([explained[0], explained[0]])
    expect(made()).toBe(1)
    await started.pass(4900)
    await explain(joe)
    expect(made()).toBe(1)
    await started.pass(200)
    await explain(joe)
    expect(made()).toBe(2)
  })

  it('that fail for one viewer are made again for the others', async () => {
    const { started, viewer, explain } = await scene(1)
    await started.allow('jane', everything)
    await started.allow('joe', everything)
    const [jane, joe] = [await viewer('jane'), await viewer('joe')]
    jane.client.list = () => Promise.reject(new ApiError(401, 'Unauthorized', 'Unauthorized', {}))
    const [first, second] = await Promise.allSettled([explain(jane), explain(joe)])
    expect(first).toMatchObject({ status: 'rejected', reason: { code: 401 } })
    expect(second).toMatchObject({ status: 'fulfilled', value: { causes: [{ what: 'ImagePull' }] } })
  })

  it('are kept for two seconds at least, and made again for another spec', async () => {
    const { started, viewer, explain, reads: made } = await scene(1)
    await started.allow('jane', everything)
    const jane = await viewer('jane')
    await explain(jane)
    await started.pass(1900)
    await explain(jane)
    expect(made()).toBe(1)
    await started.cluster.client.patch(deployments, 'default', 'web', { spec: { replicas: 3 } }, { type: 'merge' })
    await explain(jane)
    expect(made()).toBe(2)
  })

  it('are not shared by viewers with other permissions', async () => {
    const { started, viewer, explain, reads: made } = await scene(1)
    await started.allow('jane', everything)
    await started.allow('joe', [reads(['', 'apps'], 'deployments', 'pods', 'replicasets'), reads(['policy'], 'poddisruptionbudgets')])
    const [jane, joe] = [await viewer('jane'), await viewer('joe')]
    expect((await explain(jane)).unread).toEqual([])
    expect((await explain(joe)).unread.join()).toContain('events')
    expect(made()).toBe(2)
  })
})
