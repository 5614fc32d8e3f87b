import { beforeAll, describe, expect, it } from 'vitest'
import { runStatus } from '../../../src/cli/status/run.ts'
import { Screen } from '../../../src/cli/terminal/testing.ts'
import { runWhy } from '../../../src/cli/why/run.ts'
import {
  clonesets,
  cronjobs,
  daemonsets,
  deployments,
  jobs,
  pods,
  replicasets,
  resourcequotas,
  statefulsets,
} from '../../../src/client/index.ts'
import type { Session } from '../../../src/cli/session.ts'
import { CommandScene, template, workload } from './scene.ts'

const all = { args: [], allNamespaces: false, showOwned: false, form: undefined, watch: false }
const status =
  (fields: Partial<Parameters<typeof runStatus>[1]> = {}) =>
  (session: Session) =>
    runStatus(session, { ...all, ...fields })
const why =
  (...args: string[]) =>
  (session: Session) =>
    runWhy(session, args, undefined)

/** One of each kind; the StatefulSet cannot pull its image. */
async function oneOfEach(): Promise<CommandScene> {
  const scene = await CommandScene.start()
  const job = { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'app:1' }] } } }
  await scene.create(deployments, workload('web', { replicas: 2 }))
  await scene.create(
    statefulsets,
    workload(
      'db',
      { replicas: 2, serviceName: 'db', progressDeadlineSeconds: 600 },
      { 'coxswain.dev/simulate-fail-image': 'no such image' },
      'db:1',
    ),
  )
  await scene.create(daemonsets, workload('agent', {}))
  await scene.create(clonesets, workload('shop', { replicas: 2 }))
  await scene.create(jobs, { metadata: { name: 'import', namespace: 'default' }, spec: job })
  await scene.create(cronjobs, {
    metadata: { name: 'nightly', namespace: 'default' },
    spec: { schedule: '0 0 * * *', timeZone: 'UTC', jobTemplate: { spec: job } },
  })
  await scene.pass(30_000)
  return scene
}

/** The first columns of the table. */
const states = (out: string) =>
  out
    .trim()
    .split('\n')
    .slice(1)
    .map((line) =>
      line
        .split(/\s{2,}/)
        .slice(0, 3)
        .join(' '),
    )

describe('coxswain status', () => {
  it('has all kinds, those that need attention first, and names the cause', async () => {
    const scene = await oneOfEach()
    const { code, out, err } = await scene.run(status())
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(states(out)).toEqual([
      'statefulset/db Progressing 0/2',
      'cronjob/nightly Scheduled -',
      'deployment/web Available 2/2',
      'daemonset/agent Available 1/1',
      'cloneset/shop Available 2/2',
      'job/import Complete -',
    ])
    expect(out).toContain('Pod db-0 cannot pull image "db:1" for container "main": no such image\n')
    expect(out).toMatch(/statefulset\/db .* 9m3\ds /)
  })

  it('has what is owned by others where it is asked for', async () => {
    const scene = await oneOfEach()
    expect(states((await scene.run(status({ args: ['rs'] }))).out)).toEqual([
      expect.stringMatching(/^replicaset\/web-\w+ Available 2\/2$/),
    ])
    expect(states((await scene.run(status({ showOwned: true }))).out)).toHaveLength(7)
  })

  it('has a ReplicaSet that nobody owns, also where there are many', async () => {
    const scene = await oneOfEach()
    const shown = async () => states((await scene.run(status())).out).filter((line) => line.startsWith('replicaset/'))
    await scene.create(replicasets, workload('lone-0', { replicas: 0 }))
    expect(await shown()).toEqual(['replicaset/lone-0 Available 0/0'])
    for (let i = 1; i < 15; i++) await scene.create(replicasets, workload(`lone-${i}`, { replicas: 0 }))
    await scene.pass(5000)
    expect(await shown()).toHaveLength(15)
  })

  it('survives kinds that the user may not read, and a server without CloneSets', async () => {
    const scene = await oneOfEach()
    const { code, out, err } = await scene.run(status(), {
      answers: {
        clonesets: 404,
        cronjobs: 403,
        nodes: 403,
        persistentvolumeclaims: 403,
        poddisruptionbudgets: 403,
        events: 403,
      },
    })
    expect({ code, err }).toEqual({
      code: 0,
      err:
        'Could not be read: cronjobs.batch (Forbidden), poddisruptionbudgets.policy (Forbidden), ' +
        'nodes (Forbidden), events (Forbidden).\n',
    })
    expect(states(out)).toHaveLength(4)
    expect(out).toContain('cannot pull image')
  })

  it.each([
    [
      'a kind that is not served and was asked for',
      ['clone'],
      { clonesets: 404 },
      'error: the server doesn\'t have a resource type "cloneset"\n',
    ],
    [
      'a kind that may not be read and was asked for',
      ['deploy'],
      { deployments: 403 },
      'Error from server (Forbidden): deployments is forbidden: User "jane" cannot list resource "deployments"\n',
    ],
    [
      'an object that is not there',
      ['deploy/nope'],
      {},
      'Error from server (NotFound): deployments.apps "nope" not found\n',
    ],
    [
      'a kind that is no workload',
      ['services'],
      {},
      expect.stringContaining('error: Service is not a workload; supported are deployments'),
    ],
  ] as [string, string[], Record<string, 404 | 403>, string][])('refuses %s', async (_, args, answers, err) => {
    const scene = await CommandScene.start()
    expect(await scene.run(status({ args }), { answers })).toEqual({ code: 1, out: '', err })
  })

  it('says that there is nothing', async () => {
    const scene = await CommandScene.start()
    expect(await scene.run(status(), { namespace: 'kube-public' })).toEqual({
      code: 0,
      out: '',
      err: 'No resources found in kube-public namespace.\n',
    })
  })

  it('-o name and -o json are for programs', async () => {
    const scene = await oneOfEach()
    expect((await scene.run(status({ form: 'name' }))).out.split('\n').slice(0, 3)).toEqual([
      'statefulset.apps/db',
      'cronjob.batch/nightly',
      'deployment.apps/web',
    ])
    const { items } = JSON.parse((await scene.run(status({ form: 'json' }))).out) as {
      items: { state: string; causes: { cause: string }[] }[]
    }
    expect(items[0]).toMatchObject({ state: 'Progressing', causes: [{ cause: 'ImagePull' }] })
  })
})

describe('coxswain status -w', () => {
  // Loaded before time passes: loading takes none of the cluster's.
  beforeAll(() => import('../../../src/cli/status/watch.ts'))

  it('draws the table on a terminal, follows changes, and gives the cursor back after Ctrl-C', async () => {
    const scene = await oneOfEach()
    const screen = new Screen(200, 30)
    const running = scene.run(status({ watch: true, args: ['deploy', 'web'] }), {
      screen,
      interruptAfterMs: 20_000,
    })
    await scene.until('it is drawn', () => screen.lines.length === 2)
    expect(screen.isCursorHidden).toBe(true)
    expect(screen.lines.map((line) => line.split(/\s{2,}/).slice(0, 3))).toEqual([
      ['WORKLOAD', 'STATE', 'READY'],
      ['deployment/web', 'Available', '2/2'],
    ])
    await scene.cluster.client.patch(deployments, 'default', 'web', { spec: { replicas: 5 } }, { type: 'merge' })
    expect(await running).toEqual({ code: 130, out: '', err: '' })
    expect(screen.isCursorHidden).toBe(false)
    expect(screen.lines[1]).toMatch(/^deployment\/web {2}Available {2}5\/5/)
  })

  it('writes a line a change into a file', async () => {
    const scene = await oneOfEach()
    const running = scene.run(status({ watch: true, args: ['deploy/web'] }), { interruptAfterMs: 20_000 })
    await scene.pass(3000)
    await scene.cluster.client.patch(deployments, 'default', 'web', { spec: { replicas: 3 } }, { type: 'merge' })
    const { out } = await running
    const told = states(out)
    expect([told[0], told.at(-1)]).toEqual(['deployment/web Available 2/2', 'deployment/web Available 3/3'])
    expect(told.length).toBeLessThan(6)
  })
})

describe('coxswain why', () => {
  it('is content with a workload that is well', async () => {
    const scene = await oneOfEach()
    expect(await scene.run(why('deploy/web'))).toEqual({
      code: 0,
      out: 'deployment/web is available: 2 of 2 replicas are available.\n',
      err: '',
    })
  })

  it('names the pod, the reason, the time and what would help', async () => {
    const scene = await oneOfEach()
    const { code, out } = await scene.run(why('sts', 'db'))
    expect(code).toBe(3)
    expect(out).toMatch(
      /^statefulset\/db is progressing: 1 of 2 replicas is updated, .* Its progress deadline passes in 9m\d+s/,
    )
    expect(out).toMatch(
      /\nPod db-0 cannot pull image "db:1" .*: no such image, since 2026-01-01T00:00:\d\dZ \(\d+s\)\.\n/,
    )
    expect(out).toContain('\n  Help: Check the name and tag of image "db:1"')
  })

  it('says what it could not read, and explains the rest', async () => {
    const scene = await oneOfEach()
    const { code, out } = await scene.run(why('sts/db'), { answers: { nodes: 403, events: 403 } })
    expect(code).toBe(3)
    expect(out).toContain('cannot pull image')
    expect(out).toContain('Could not be read, and is not explained: nodes (Forbidden), events (Forbidden).\n')
  })

  it('tells what conditions tell where pods may not be read', async () => {
    const scene = await oneOfEach()
    const { code, out } = await scene.run(why('sts/db'), { answers: { pods: 403 } })
    expect(code).toBe(2)
    expect(out).toContain('statefulset/db is progressing')
    expect(out).toContain('pods (Forbidden)')
  })

  it('explains a pod', async () => {
    const scene = await oneOfEach()
    const { code, out } = await scene.run(why('pod/db-0'))
    expect(code).toBe(3)
    expect(out).toMatch(
      /^pod\/db-0 is (ErrImagePull|ImagePullBackOff): 0 of 1 container is ready; it is of statefulset\/db\.\n/,
    )
  })

  it('names a quota that refuses pods', async () => {
    const scene = await CommandScene.start()
    await scene.create(resourcequotas, {
      metadata: { name: 'small', namespace: 'default' },
      spec: { hard: { pods: '1' } },
    })
    await scene.pass(2000)
    await scene.create(deployments, workload('web', { replicas: 2 }))
    await scene.pass(5000)
    const { code, out } = await scene.run(why('deploy/web'))
    expect(code).toBe(3)
    expect(out).toMatch(
      /Deployment web cannot create a pod: pods "[\w-]+" is forbidden: exceeded quota: small, requested: pods=1/,
    )
  })

  it('does not hold the failures of yesterday against a Job that runs', async () => {
    const scene = await CommandScene.start()
    const spec = {
      backoffLimit: 3,
      template: {
        ...template('import', 'app:1', { 'coxswain.dev/simulate-exit-after': 'never' }),
        spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'app:1' }] },
      },
    }
    await scene.create(jobs, { metadata: { name: 'import', namespace: 'default' }, spec })
    await scene.pass(3000)
    const [first] = (await scene.cluster.client.list(pods, 'default')).items
    await scene.cluster.client.delete(pods, 'default', first!.metadata.name!)
    await scene.pass(40_000)
    expect(await scene.run(why('job/import'))).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^job\/import is running: 1 pod active, 0 of 1 completion/),
    })
  })
})
