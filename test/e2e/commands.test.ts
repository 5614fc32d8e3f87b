import { execFile } from 'node:child_process'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Cluster, useCluster, useEverything } from '../kubectl/cluster.ts'
import { type Ended, type RunningPart, runCoxswain, startControllers } from '../kubectl/coxswain.ts'
import { words } from '../kubectl/words.ts'

const bin = path.resolve(import.meta.dirname, '../../bin')

/** Runs a command of ours against a cluster. */
const against =
  (cluster: Cluster) =>
  (line: string, env: Record<string, string> = {}): Promise<Ended> =>
    runCoxswain(words(line), { KUBECONFIG: cluster.server.kubeconfig, ...env })

const workload = (kind: string, name: string, fields = '', annotations = '', image = 'app:1') => `
apiVersion: ${kind === 'CloneSet' ? 'apps.kruise.io/v1alpha1' : 'apps/v1'}
kind: ${kind}
metadata: { name: ${name} }
spec:
  selector: { matchLabels: { app: ${name} } }
  ${fields}
  template:
    metadata: { labels: { app: ${name} }, annotations: { ${annotations} } }
    spec: { terminationGracePeriodSeconds: 0, containers: [{ name: main, image: '${image}' }] }
---`

const job = (name: string, annotations = '') => `
apiVersion: batch/v1
kind: Job
metadata: { name: ${name} }
spec:
  backoffLimit: 0
  template:
    metadata: { annotations: { ${annotations} } }
    spec: { restartPolicy: Never, containers: [{ name: main, image: job }] }
---`

const noImage = 'coxswain.dev/simulate-fail-image: "no such image"'
const manifest = [
  workload('Deployment', 'web', 'replicas: 3'),
  workload('StatefulSet', 'db', 'serviceName: db\n  replicas: 2\n  progressDeadlineSeconds: 4', noImage, 'nope:1'),
  workload('DaemonSet', 'agent'),
  workload('CloneSet', 'shop', 'replicas: 2'),
  job('import'),
  job('broken', 'coxswain.dev/simulate-exit-code: "3"'),
].join('')

describe('with everything in one process', () => {
  const cluster = useEverything(['--runtime', 'simulated', '--nodes', '3', '--node-name', 'n'])
  const coxswain = against(cluster)

  beforeAll(async () => {
    cluster.kubectl.file('all.yaml', manifest)
    await cluster.kubectl.ok('apply -f all.yaml')
    await cluster.kubectl.ok('wait --for=condition=Available deploy/web ds/agent clone/shop --timeout=60s')
    await cluster.kubectl.ok('wait --for=condition=Failed job/broken --timeout=60s')
    await cluster.kubectl.ok('wait --for=condition=Complete job/import --timeout=60s')
    await cluster.kubectl.ok('wait --for=condition=Progressing=False sts/db --timeout=60s')
  }, 90_000)

  it('status has a line a workload, those that need attention first', async () => {
    const { code, out, err } = await coxswain('status')
    expect({ code, err }).toEqual({ code: 0, err: '' })
    const rows = out
      .trim()
      .split('\n')
      .map((line) => line.split(/\s{2,}/))
    expect(rows.map(([name, state, ready]) => [name, state, ready])).toEqual([
      ['WORKLOAD', 'STATE', 'READY'],
      ['statefulset/db', 'Stuck', '0/2'],
      ['job/broken', 'Failed', '-'],
      ['deployment/web', 'Available', '3/3'],
      ['daemonset/agent', 'Available', '3/3'],
      ['cloneset/shop', 'Available', '2/2'],
      ['job/import', 'Complete', '-'],
    ])
    expect(rows[1]!.at(-1)).toBe('Pod db-0 cannot pull image "nope:1" for container "main": no such image')
    expect((await coxswain('status -A -o name')).out).toContain('cloneset.apps.kruise.io/shop\n')
  })

  it('why names the cause, and is content with what is well', async () => {
    expect(await coxswain('why deploy/web')).toEqual({
      code: 0,
      out: 'deployment/web is available: 3 of 3 replicas are available.\n',
      err: '',
    })
    const { code, out } = await coxswain('why sts db -o json')
    expect(code).toBe(3)
    expect(JSON.parse(out)).toMatchObject({
      kind: 'Explanation',
      workload: { kind: 'StatefulSet', namespace: 'default', name: 'db' },
      state: 'Stuck',
      causes: [
        {
          cause: 'ImagePull',
          weight: 'trouble',
          object: { kind: 'Pod', name: 'db-0' },
          lastWarning: { reason: 'Failed' },
        },
      ],
    })
  })

  it('rollouts are followed, told of, undone and restarted', async () => {
    await cluster.kubectl.ok('set image deploy/web main=app:2')
    expect(await coxswain('rollout status deploy/web --timeout 20s')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/deployment "web" successfully rolled out\n$/),
    })
    expect((await coxswain('rollout history deploy/web')).out).toMatch(/\n1 .* app:1 .*\n2 .* app:2 /)
    expect(await coxswain('rollout undo deploy/web')).toEqual({
      code: 0,
      out: 'deployment.apps/web rolled back\n',
      err: '',
    })
    expect(await cluster.kubectl.ok('get deploy web -o jsonpath={.spec.template.spec.containers[0].image}')).toBe(
      'app:1',
    )
    expect(await coxswain('rollout restart clone/shop')).toEqual({
      code: 0,
      out: 'cloneset.apps.kruise.io/shop restarted\n',
      err: '',
    })
    expect(await coxswain('rollout watch clone/shop deploy/web --timeout 20s')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/cloneset "shop" successfully rolled out\n/),
    })
    expect(await coxswain('rollout status sts/db')).toMatchObject({
      code: 3,
      err: expect.stringMatching(/^error: statefulset "db" exceeded its progress deadline\nPod db-0 cannot pull image/),
    })
    expect(await coxswain('rollout pause ds/agent')).toMatchObject({
      code: 1,
      err: 'error: daemonsets.apps "agent" pausing is not supported: deployments and clonesets can be paused\n',
    })
  })

  it('wait tells by its exit code which outcome has come', async () => {
    expect(await coxswain('wait job/import --for condition=Complete --or condition=Failed')).toMatchObject({ code: 0 })
    expect(await coxswain('wait job/broken --for condition=Complete --or condition=Failed')).toMatchObject({
      code: 10,
      out: expect.stringMatching(/^job\.batch\/broken condition met \(condition=Failed\): BackoffLimitExceeded: .*\n$/),
    })
    expect(await coxswain('wait sts/db --for condition=Available --timeout 1s')).toMatchObject({
      code: 124,
      err: expect.stringMatching(/^error: timed out waiting for condition=Available on statefulsets\/db\nPod db-0/),
    })
  })

  it('top controllers reads the metrics of the process', async () => {
    const { code, out } = await coxswain('top controllers')
    expect(code).toBe(0)
    expect(out).toMatch(/^CONTROLLER +QUEUE +LAG +BUSY +AVG WAIT +RECONCILES +ERRORS +RETRIES +STALE SKIPS\n/)
    expect(out).toMatch(/\ndeployment +\d+ .*\n/)
    expect(out).toMatch(/\n\d+ caches with \d+ objects, none behind\.\n$|\nCACHE +LAG /)
  })

  it("says in kubectl's words what is wrong", async () => {
    expect(await coxswain('why deploy/nope')).toEqual({
      code: 1,
      out: '',
      err: 'Error from server (NotFound): deployments.apps "nope" not found\n',
    })
    expect(await coxswain('status boats')).toEqual({
      code: 1,
      out: '',
      err: 'error: the server doesn\'t have a resource type "boats"\n',
    })
    expect(await coxswain('status --context nope')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^error: the kubeconfig has no context "nope"/),
    })
    expect(await coxswain('status', { KUBECONFIG: '/nonexistent' })).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^error: no kubeconfig found: \/nonexistent/),
    })
  })

  it('is a plug-in of kubectl, which completes its words', async () => {
    const env = { PATH: `${bin}:${path.dirname(process.execPath)}:${process.env['PATH']}` }
    expect(await cluster.kubectl.ok('coxswain why deploy/web', '', env)).toBe(
      'deployment/web is available: 3 of 3 replicas are available.\n',
    )
    expect(await cluster.kubectl.ok('coxswain rollout --help', '', env)).toMatch(/^Usage: kubectl coxswain rollout /)
    expect(await cluster.kubectl.ok('__complete coxswain why sts/', '', env)).toMatch(/^sts\/db\n:4\n/)
    expect((await cluster.kubectl.run('coxswain why sts/db', '', env)).code).toBe(3)
  })

  it('completes in bash', async () => {
    const script = `
      source <(coxswain completion bash)
      complete -p coxswain >/dev/null || exit 9
      compopt() { :; }
      COMP_WORDS=(coxswain why deploy w); COMP_CWORD=3
      _coxswain
      echo "\${COMPREPLY[@]}"`
    const env = {
      ...process.env,
      PATH: `${bin}:${path.dirname(process.execPath)}:${process.env['PATH']}`,
      KUBECONFIG: cluster.server.kubeconfig,
    }
    const out = await new Promise<string>((resolve, reject) =>
      execFile('bash', ['-c', script], { env }, (error, stdout, stderr) =>
        error ? reject(new Error(stderr, { cause: error })) : resolve(stdout),
      ),
    )
    expect(out).toBe('web\n')
  })
})

describe('with an API server alone, and controllers elsewhere', () => {
  const cluster = useCluster()
  const coxswain = against(cluster)
  let controllers: RunningPart | undefined

  beforeAll(async () => {
    controllers = await startControllers(cluster.server.kubeconfig, ['--leader-elect=false'])
    cluster.kubectl.file('all.yaml', manifest)
    await cluster.kubectl.ok('apply -f all.yaml')
    await cluster.kubectl.ok('wait --for=create pod/db-0 --timeout=60s')
  }, 60_000)
  afterAll(() => controllers?.stop())

  it('top controllers has to be told where they are', async () => {
    expect(await coxswain('top controllers')).toEqual({
      code: 1,
      out: '',
      err: expect.stringMatching(/^error: the API server has no metrics of controllers: .* --metrics-url .*\n$/),
    })
    const { code, out } = await coxswain(`top controllers --metrics-url ${controllers!.url}`)
    expect(code).toBe(0)
    expect(out).toMatch(/\nstatefulset +\d+ /)
    const { items } = JSON.parse(
      (await coxswain(`top controllers --metrics-url ${controllers!.url}/metrics -o json`)).out,
    ) as { items: { name: string }[] }
    expect(items.map(({ name }) => name)).toContain('cloneset')
  })

  it('why says that nobody schedules', async () => {
    const { code, out } = await coxswain('why deploy/web')
    expect(code).toBe(2)
    expect(out).toMatch(/^deployment\/web is progressing: 3 of 3 replicas are updated, 0 of 3 are available\./)
    expect(out).toMatch(
      /\nPod web-\S+ has no node yet, since .*\n {2}The same: web-\S+, web-\S+\.\n {2}Help: Wait for the scheduler/,
    )
  })

  it('rollout status gives up in time, with the cause', async () => {
    const { code, err } = await coxswain('rollout status deploy/web --timeout 1s')
    expect(code).toBe(124)
    expect(err).toMatch(/^error: timed out waiting for deployment\/web\nPod web-\S+ has no node yet/)
  })

  it('why says that nobody controls', async () => {
    await controllers?.stop()
    controllers = undefined
    await cluster.kubectl.ok('set image deploy/web main=app:2')
    const { code, out } = await coxswain('why deploy/web')
    expect(code).toBe(3)
    expect(out).toContain(
      'Deployment web is at generation 2, of which its controller has observed 1.\n  Help: Check that its',
    )
  })
})
