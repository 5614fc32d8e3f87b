import { describe, expect, it } from 'vitest'
import { ApiError } from '../../../src/api/errors.ts'
import { TransportError, leases, pods } from '../../../src/client/index.ts'
import { SchedulerScene, asking } from './scene.ts'

const isBinding = ({ path }: { path: string }) => path.endsWith('/binding')

describe('the scheduler, when things go wrong,', () => {
  it('tries again a second after a binding was refused', async () => {
    const scene = await SchedulerScene.start()
    await scene.node('node-1')
    let refusals = 1
    scene.wire.intercept = (request, send) => (isBinding(request) && refusals-- > 0 ? Promise.reject(new ApiError(500, 'InternalError', 'disk on fire')) : send())
    await scene.pod('web')
    expect(await scene.whyNot('web')).toBe('SchedulerError: disk on fire')
    await scene.pass(990)
    expect(await scene.nodeOf('web')).toBeUndefined()
    await scene.pass(20)
    expect(await scene.nodeOf('web')).toBe('node-1')
    expect(await scene.events('web')).toEqual(['Warning FailedScheduling ×1: disk on fire', 'Normal Scheduled ×1: Successfully assigned default/web to node-1'])
  })

  it('gives the room of a binding that failed to others', async () => {
    const scene = await SchedulerScene.start()
    await scene.node('node-1', { allocatable: { cpu: '1' } })
    scene.wire.intercept = (request, send) => (isBinding(request) && request.path.includes('/first/') ? Promise.reject(new ApiError(500, 'InternalError', 'no')) : send())
    await scene.pod('first', { containers: [asking({ cpu: '1' })] })
    await scene.pod('second', { containers: [asking({ cpu: '1' })] })
    expect(await scene.nodeOf('second')).toBe('node-1')
  })

  it('finds out that a binding without an answer has happened', async () => {
    const scene = await SchedulerScene.start()
    await scene.node('node-1')
    let losses = 1
    scene.wire.intercept = async (request, send) => {
      const answer = await send()
      if (isBinding(request) && losses-- > 0) throw new TransportError('connection reset', false)
      return answer
    }
    await scene.pod('web')
    await scene.pass(20_000)
    expect(await scene.nodeOf('web')).toBe('node-1')
    expect([scene.metric('scheduler_pending_pods'), scene.metric('scheduler_scheduler_cache_size', 'type="pods"')]).toEqual([0, 1])
  })

  it('keeps the room of a binding without an answer, until it is known what became of it', async () => {
    const scene = await SchedulerScene.start()
    await scene.node('node-1', { allocatable: { cpu: '1' } })
    let late: (() => Promise<unknown>) | undefined
    let isDown = true
    scene.wire.intercept = async (request, send) => {
      if (!isDown || !isBinding(request) || !request.path.includes('/first/')) return send()
      late ??= send
      throw new TransportError('connection reset', false)
    }
    await scene.pod('first', { containers: [asking({ cpu: '1' })] })
    await scene.pod('second', { containers: [asking({ cpu: '1' })] })
    await scene.pass(10_000)
    expect([await scene.nodeOf('first'), await scene.nodeOf('second')]).toEqual([undefined, undefined])
    await late!()
    isDown = false
    await scene.pass(30_000)
    expect([await scene.nodeOf('first'), await scene.nodeOf('second')]).toEqual(['node-1', undefined])
    expect(await scene.events('first')).toEqual(['Normal Scheduled ×1: Successfully assigned default/first to node-1'])
  })

  it('asks a server that has failed whether the binding has happened', async () => {
    const scene = await SchedulerScene.start()
    await scene.node('node-1', { allocatable: { cpu: '1' } })
    scene.wire.intercept = async (request, send) => {
      const answer = await send()
      if (isBinding(request)) throw new ApiError(500, 'InternalError', 'it is unclear what happened')
      return answer
    }
    await scene.pod('first', { containers: [asking({ cpu: '1' })] })
    expect([await scene.nodeOf('first'), await scene.events('first')]).toEqual(['node-1', ['Normal Scheduled ×1: Successfully assigned default/first to node-1']])
  })

  it('keeps the room of a binding at which the server failed, until it says whether it has happened', async () => {
    const scene = await SchedulerScene.start()
    await scene.node('node-1', { allocatable: { cpu: '1' } })
    let isDown = true
    const unclear = ({ path }: { path: string }, send: () => Promise<unknown>) => (isDown && path.includes('/first') ? Promise.reject(new ApiError(500, 'InternalError', 'it is unclear what happened')) : send())
    scene.wire.intercept = unclear
    scene.wire.interceptRead = unclear
    await scene.pod('first', { containers: [asking({ cpu: '1' })] })
    await scene.pod('second', { containers: [asking({ cpu: '1' })] })
    await scene.pass(10_000)
    isDown = false
    expect([await scene.nodeOf('first'), await scene.nodeOf('second')]).toEqual([undefined, undefined])
    await scene.pass(30_000)
    expect([await scene.nodeOf('first'), await scene.nodeOf('second')]).toEqual(['node-1', undefined])
  })

  it('forgets a pod that is deleted while it is bound', async () => {
    const scene = await SchedulerScene.start()
    await scene.node('node-1', { allocatable: { cpu: '1' } })
    scene.wire.intercept = async (request, send) => {
      if (isBinding(request) && request.path.includes('/web/')) await scene.client.delete(pods, 'default', 'web', { gracePeriodSeconds: 0 })
      return send()
    }
    await scene.pod('web', { containers: [asking({ cpu: '1' })] })
    await scene.pod('next', { containers: [asking({ cpu: '1' })] })
    expect(await scene.nodeOf('next')).toBe('node-1')
    expect(scene.metric('scheduler_pending_pods')).toBe(0)
  })

  it('goes on when the API comes back', async () => {
    const scene = await SchedulerScene.start()
    await scene.node('node-1')
    scene.wire.isUnreachable = true
    await scene.pod('web')
    await scene.pass(60_000)
    expect(await scene.nodeOf('web')).toBeUndefined()
    scene.wire.isUnreachable = false
    await scene.pass(30_000)
    expect(await scene.nodeOf('web')).toBe('node-1')
  })

  it('acts only while it holds the lease', async () => {
    const lease = { name: 'kube-scheduler', namespace: 'kube-system' }
    const scene = await SchedulerScene.start({ scheduler: { leaderElection: { ...lease, identity: 'us' } } })
    await scene.node('node-1')
    await scene.pass(1000)
    expect([scene.scheduler.role.kind, (await scene.client.get(leases, lease.namespace, lease.name)).spec?.holderIdentity]).toEqual(['acting', 'us'])
    await scene.pod('web')
    expect(await scene.nodeOf('web')).toBe('node-1')
    scene.wire.isUnreachable = true
    await scene.pass(20_000)
    expect(scene.scheduler.role.kind).not.toBe('acting')
    scene.wire.isUnreachable = false
    await scene.pass(30_000)
    await scene.pod('again')
    expect(await scene.nodeOf('again')).toBe('node-1')
  })
})
