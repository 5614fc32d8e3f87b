import { describe, expect, it } from 'vitest'
import { runPause, runRestart, runUndo } from '../../../src/cli/rollout/edit.ts'
import { runHistory } from '../../../src/cli/rollout/history.ts'
import { runRolloutStatus } from '../../../src/cli/rollout/status.ts'
import type { Session } from '../../../src/cli/session.ts'
import { Screen } from '../../../src/cli/terminal/testing.ts'
import { runWait } from '../../../src/cli/wait/run.ts'
import {
  type Deployment,
  type ResourceType,
  clonesets,
  configmaps,
  daemonsets,
  deployments,
  jobs,
  pods,
  replicasets,
  replicationcontrollers,
  statefulsets,
} from '../../../src/client/index.ts'
import { CommandScene, workload } from './scene.ts'

const rollout =
  (name: string, fields: object = {}) =>
  (session: Session) =>
    runRolloutStatus(session, { args: [name], timeoutMs: undefined, watch: true, live: false, ...fields })
const wait =
  (name: string, outcome: string, or: string[] = [], timeoutMs = 30_000) =>
  (session: Session) =>
    runWait(session, { args: [name], for: outcome, or, timeoutMs })
const history =
  (name: string, fields: object = {}) =>
  (session: Session) =>
    runHistory(session, { args: [name], revision: undefined, form: undefined, ...fields })
const undo =
  (name: string, to = 0) =>
  (session: Session) =>
    runUndo(session, { args: [name], dryRun: false }, to)
const restart = (name: string) => (session: Session) => runRestart(session, { args: [name], dryRun: false })
const pause = (name: string, paused: boolean) => (session: Session) =>
  runPause(session, { args: [name], dryRun: false }, paused)

const failing = { 'coxswain.dev/simulate-fail-image': 'no such image' }
const jobOf = (name: string, annotations: Record<string, string> = {}, spec: object = {}) => ({
  metadata: { name, namespace: 'default' },
  spec: {
    ...spec,
    template: {
      metadata: { annotations },
      spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'job:1' }] },
    },
  },
})
const image = (name: string) => ({ spec: { template: { spec: { containers: [{ name: 'main', image: name }] } } } })

describe('coxswain rollout status', () => {
  it.each([
    ['deploy/web', deployments, workload('web', { replicas: 2 }), 'deployment "web" successfully rolled out\n'],
    [
      'sts/web',
      statefulsets,
      workload('web', { replicas: 2, serviceName: 'web' }),
      /statefulset rolling update complete 2 pods at revision web-\w+\.\.\.\n$/,
    ],
    ['ds/web', daemonsets, workload('web', {}), 'daemon set "web" successfully rolled out\n'],
    ['clone/web', clonesets, workload('web', { replicas: 2 }), 'cloneset "web" successfully rolled out\n'],
    ['rs/web', replicasets, workload('web', { replicas: 2 }), 'replicaset "web" successfully rolled out\n'],
    [
      'rc/web',
      replicationcontrollers,
      workload('web', { replicas: 2, selector: { app: 'web' } }),
      'replication controller "web" successfully rolled out\n',
    ],
    ['job/web', jobs, jobOf('web'), 'job "web" is complete\n'],
  ] as [string, ResourceType, object, string | RegExp][])(
    '%s ends when all is done',
    async (name, type, object, last) => {
      const scene = await CommandScene.start()
      await scene.create(type, object)
      const { code, out, err } = await scene.run(rollout(name))
      expect({ code, err }).toEqual({ code: 0, err: '' })
      expect(out).toMatch(typeof last === 'string' ? new RegExp(`${last}$`) : last)
      expect(out).toMatch(/^Waiting for /)
    },
  )

  it.each([
    ['deploy/web', deployments, { replicas: 1 }],
    ['sts/web', statefulsets, { replicas: 1, serviceName: 'web' }],
    ['ds/web', daemonsets, {}],
    ['clone/web', clonesets, { replicas: 1 }],
  ] as [string, ResourceType, object][])(
    '%s tells the cause while it waits, and ends with it when the deadline has passed',
    async (name, type, spec) => {
      const scene = await CommandScene.start()
      await scene.create(type, workload('web', { ...spec, progressDeadlineSeconds: 20 }, failing, 'nope:1'))
      const { code, out, err } = await scene.run(rollout(name))
      expect(code).toBe(3)
      expect(out).toMatch(/\n {2}Pod web-\S+ cannot pull image "nope:1" for container "main": no such image\.\n/)
      expect(err).toMatch(/^error: [a-z ]+ "web" exceeded its progress deadline\nPod web-\S+ cannot pull image/)
      expect(err).toContain('\n  Help: ')
    },
  )

  it.each([
    ['sts/web', statefulsets, { replicas: 2, serviceName: 'web' }],
    ['ds/web', daemonsets, {}],
  ] as [string, ResourceType, object][])(
    '%s is judged by its numbers where it has no conditions',
    async (name, type, spec) => {
      const scene = await CommandScene.start({ StatefulSetConditions: false, DaemonSetConditions: false })
      await scene.create(type, workload('web', spec))
      expect(await scene.run(rollout(name))).toMatchObject({ code: 0 })
      await scene.cluster.client.patch(type, 'default', 'web', image('app:2'), { type: 'strategic' })
      const { code, out } = await scene.run(rollout(name))
      expect({ code, first: out.split('\n')[0] }).toEqual({ code: 0, first: expect.stringMatching(/^Waiting for /) })
      const { items } = await scene.cluster.client.list(pods, 'default')
      expect(items.map(({ spec: { containers } }) => containers[0]!.image)).toEqual(items.map(() => 'app:2'))
      expect(await scene.cluster.client.get(type, 'default', 'web')).not.toHaveProperty('status.conditions')
    },
  )

  it('ends with the reason of a Job that has failed', async () => {
    const scene = await CommandScene.start()
    await scene.create(jobs, jobOf('import', { 'coxswain.dev/simulate-exit-code': '3' }, { backoffLimit: 0 }))
    const { code, err } = await scene.run(rollout('job/import'))
    expect(code).toBe(3)
    expect(err).toMatch(
      /^error: job "import" has failed: BackoffLimitExceeded: .*\nPod import-\S+ .* "main": exit code 3/,
    )
  })

  it('ends when the partition is reached, and says so', async () => {
    const scene = await CommandScene.start()
    const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { partition: 1 } }
    await scene.create(
      statefulsets,
      workload('web', { replicas: 3, serviceName: 'web', podManagementPolicy: 'Parallel', updateStrategy }),
    )
    await scene.run(rollout('sts/web'))
    await scene.cluster.client.patch(statefulsets, 'default', 'web', image('app:2'), { type: 'strategic' })
    expect(await scene.run(rollout('sts/web'))).toMatchObject({
      code: 0,
      out: expect.stringMatching(/partitioned roll out complete: 2 new pods have been updated\.\.\.\n$/),
    })
  })

  it('goes on waiting while it is paused, and says so', async () => {
    const scene = await CommandScene.start()
    await scene.create(deployments, workload('web', { replicas: 1 }))
    await scene.run(rollout('deploy/web'))
    await scene.run(pause('deploy/web', true))
    await scene.cluster.client.patch(deployments, 'default', 'web', image('app:2'), { type: 'strategic' })
    const { code, out, err } = await scene.run(rollout('deploy/web', { timeoutMs: 10_000 }))
    expect(code).toBe(124)
    expect(out).toContain('  Deployment web is paused.\n')
    expect(err).toMatch(
      /^error: timed out waiting for deployment\/web\nDeployment web is paused, since 2026-01-01T00:00:\d\dZ/,
    )
  })

  it('--watch=false tells how it stands', async () => {
    const scene = await CommandScene.start()
    await scene.create(deployments, workload('web', { replicas: 1 }, failing, 'nope:1'))
    await scene.pass(2000)
    expect(await scene.run(rollout('deploy/web', { watch: false }))).toEqual({
      code: 2,
      out: 'Waiting for deployment "web" rollout to finish: 0 of 1 updated replicas are available...\n',
      err: '',
    })
  })

  it('--watch=false names the cause of a rollout that is out of time', async () => {
    const scene = await CommandScene.start()
    await scene.create(deployments, workload('web', { replicas: 1, progressDeadlineSeconds: 5 }, failing, 'nope:1'))
    await scene.pass(20_000)
    const { code, out, err } = await scene.run(rollout('deploy/web', { watch: false }))
    expect({ code, out }).toEqual({ code: 3, out: '' })
    expect(err).toMatch(/^error: deployment "web" exceeded its progress deadline\nPod web-\S+ cannot pull image/)
  })

  it('works for who may read the object and not watch it', async () => {
    const scene = await CommandScene.start()
    await scene.create(deployments, workload('web', { replicas: 1 }))
    expect(await scene.run(rollout('deploy/web'), { answers: { pods: 403, replicasets: 403 } })).toMatchObject({
      code: 0,
    })
  })

  it('ends with an error when the object is deleted', async () => {
    const scene = await CommandScene.start()
    await scene.create(deployments, workload('web', { replicas: 1 }, failing, 'nope:1'))
    const running = scene.run(rollout('deploy/web'))
    await scene.pass(3000)
    await scene.cluster.client.delete(deployments, 'default', 'web')
    expect(await running).toMatchObject({
      code: 1,
      err: 'Error from server (NotFound): deployments.apps "web" not found\n',
    })
  })

  it('has nothing to say of CronJobs', async () => {
    const scene = await CommandScene.start()
    expect(await scene.run(rollout('cj/x'))).toMatchObject({
      code: 1,
      err: 'error: cronjobs.batch "x": a CronJob has no rollout; see the status of its Jobs\n',
    })
  })
})

it('coxswain rollout watch draws bars until all is done', async () => {
  const scene = await CommandScene.start()
  await scene.create(deployments, workload('web', { replicas: 4 }))
  const screen = new Screen(60, 30)
  expect(await scene.run(rollout('deploy/web', { live: true }), { screen })).toEqual({ code: 0, out: '', err: '' })
  expect(screen.isCursorHidden).toBe(false)
  expect(screen.lines).toEqual([
    'deployment/web Available, revision 1',
    `  updated    ${'█'.repeat(40)} 4/4`,
    `  ready      ${'█'.repeat(40)} 4/4`,
    `  available  ${'█'.repeat(40)} 4/4`,
    'deployment "web" successfully rolled out',
  ])
})

describe('coxswain rollout history, undo and restart', () => {
  it.each([
    ['deploy/web', deployments, { replicas: 2 }],
    ['sts/web', statefulsets, { replicas: 2, serviceName: 'web' }],
    ['ds/web', daemonsets, {}],
    ['clone/web', clonesets, { replicas: 2 }],
  ] as [string, ResourceType, object][])('%s', async (name, type, spec) => {
    const scene = await CommandScene.start()
    const { client } = scene.cluster
    const current = async () => (await client.get(type as ResourceType<Deployment>, 'default', 'web')).spec.template
    await scene.create(type, workload('web', spec))
    await scene.run(rollout(name))
    await client.patch(
      type,
      'default',
      'web',
      { metadata: { annotations: { 'kubernetes.io/change-cause': 'two' } }, ...image('app:2') },
      { type: 'strategic' },
    )
    await scene.run(rollout(name))
    const told = (await scene.run(history(name))).out
      .trim()
      .split('\n')
      .map((line) => line.split(/\s{2,}/))
    expect(told.slice(1).map(([number, , images]) => [number, images])).toEqual([
      ['REVISION', 'IMAGES'],
      ['1', 'app:1'],
      ['2', 'app:2'],
    ])
    expect((await scene.run(history(name, { revision: 1 }))).out).toMatch(
      / with revision #1\nPod Template:\n[\s\S]* image: app:1\n/,
    )
    expect(await scene.run(history(name, { revision: 7 }))).toMatchObject({
      code: 1,
      err: 'error: unable to find the specified revision\n',
    })

    expect((await scene.run(undo(name, 2))).out).toMatch(
      / skipped rollback \(current template already matches revision 2\)\n$/,
    )
    expect((await scene.run(undo(name))).out).toMatch(/^\w+\.apps(\.kruise\.io)?\/web rolled back\n$/)
    expect((await current()).spec!.containers[0]!.image).toBe('app:1')
    expect(await scene.run(rollout(name))).toMatchObject({ code: 0 })

    expect((await scene.run(restart(name))).out).toMatch(/ restarted\n$/)
    expect((await current()).metadata?.annotations).toHaveProperty(['kubectl.kubernetes.io/restartedAt'])
    expect(await scene.run(rollout(name))).toMatchObject({ code: 0 })
  })

  it.each([
    ['deploy/web', deployments],
    ['clone/web', clonesets],
  ] as [string, ResourceType][])('%s is paused and goes on', async (name, type) => {
    const scene = await CommandScene.start()
    await scene.create(type, workload('web', { replicas: 1 }))
    await scene.run(rollout(name))
    expect((await scene.run(pause(name, true))).out).toMatch(/ paused\n$/)
    await scene.cluster.client.patch(type, 'default', 'web', image('app:2'), { type: 'strategic' })
    expect(await scene.run(rollout(name, { timeoutMs: 5000 }))).toMatchObject({ code: 124 })
    expect((await scene.run(pause(name, false))).out).toMatch(/ resumed\n$/)
    expect(await scene.run(rollout(name))).toMatchObject({ code: 0 })
  })
})

describe('coxswain wait', () => {
  const both = ['condition=Failed', 'condition=Suspended']
  it.each([
    ['the outcome that is hoped for', {}, {}, 0, 'condition=Complete'],
    ['the first alternative', { 'coxswain.dev/simulate-exit-code': '3' }, { backoffLimit: 0 }, 10, 'condition=Failed'],
    ['the second alternative', {}, { suspend: true }, 11, 'condition=Suspended'],
  ])('ends with %s', async (_, annotations, spec, code, outcome) => {
    const scene = await CommandScene.start()
    await scene.create(jobs, jobOf('import', annotations as Record<string, string>, spec))
    const ran = await scene.run(wait('job/import', 'condition=Complete', both))
    expect(ran).toMatchObject({ code, err: '' })
    expect(ran.out).toMatch(new RegExp(`^job\\.batch/import condition met \\(${outcome}\\): \\w+: .*\n$`))
  })

  it('does not take a condition of the generation before', async () => {
    const scene = await CommandScene.start()
    await scene.create(deployments, workload('web', { replicas: 1 }))
    await scene.run(wait('deploy/web', 'condition=Available'))
    await scene.cluster.manager!.stop()
    await scene.cluster.client.patch(deployments, 'default', 'web', image('app:2'), { type: 'strategic' })
    expect(await scene.run(wait('deploy/web', 'condition=Available', [], 5000))).toMatchObject({
      code: 124,
      err: expect.stringMatching(
        /^error: timed out waiting for condition=Available on deployments\/web\nDeployment web is at generation 2/,
      ),
    })
  })

  it('waits for something to appear, and to go', async () => {
    const scene = await CommandScene.start()
    const created = scene.run(wait('cm/settings', 'create'))
    await scene.pass(2000)
    await scene.create(configmaps, { metadata: { name: 'settings', namespace: 'default' } })
    expect(await created).toEqual({ code: 0, out: 'configmap/settings condition met\n', err: '' })
    const deleted = scene.run(wait('cm/settings', 'delete'))
    await scene.pass(2000)
    await scene.cluster.client.delete(configmaps, 'default', 'settings')
    expect(await deleted).toEqual({ code: 0, out: 'configmap/settings deleted\n', err: '' })
  })

  it.each([
    ['a kind that nobody knows', 'boat/x', 'condition=A', 'error: the server doesn\'t have a resource type "boat"\n'],
    [
      'an object that is not there',
      'deploy/x',
      'condition=A',
      'Error from server (NotFound): deployments.apps "x" not found\n',
    ],
    ['an outcome that makes no sense', 'deploy/x', 'A', 'error: unrecognized condition: "A"\n'],
  ])('refuses %s', async (_, name, outcome, err) => {
    const scene = await CommandScene.start()
    expect(await scene.run(wait(name, outcome))).toEqual({ code: 1, out: '', err })
  })

  it('ends with 130 after Ctrl-C', async () => {
    const scene = await CommandScene.start()
    expect(await scene.run(wait('cm/x', 'create', [], 60_000), { interruptAfterMs: 3000 })).toEqual({
      code: 130,
      out: '',
      err: '',
    })
  })
})

it('wait says that a condition does not exist where its feature is switched off', async () => {
  const scene = await CommandScene.start({ StatefulSetConditions: false })
  await scene.create(statefulsets, workload('db', { replicas: 1, serviceName: 'db' }))
  const { code, err } = await scene.run(wait('sts/db', 'condition=Available', [], 5000))
  expect(code).toBe(124)
  expect(err).toContain('statefulsets/db has no condition Available, nor any other.\n')
})
