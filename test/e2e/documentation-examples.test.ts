import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type RunningServer, startEverything } from '../kubectl/coxswain.ts'
import { Kubectl } from '../kubectl/kubectl.ts'

const examples = path.resolve(import.meta.dirname, '../../examples/kubernetes')

let dataDir: string
let server: RunningServer
let kubectl: Kubectl

/** Applies an example as it is in the folder. */
const apply = (name: string) => kubectl.ok(`apply -f ${path.join(examples, `${name}.yaml`)}`)

const until = (condition: string, ...what: string[]) => kubectl.ok(`wait '--for=${condition}' ${what.join(' ')} --timeout=60s`)

const slow = { timeout: 100_000, interval: 500 }

beforeAll(async () => {
  dataDir = mkdtempSync(path.join(tmpdir(), 'coxswain-examples-'))
  server = await startEverything(dataDir)
  kubectl = new Kubectl(server.kubeconfig)
  // The slow ones run while the others are tested.
  for (const name of ['hello', 'probes', 'failing-job', 'pi']) await apply(name)
}, 60_000)

afterAll(async () => {
  await kubectl?.run('delete cronjobs,jobs,deployments,statefulsets,pods --all --now --timeout=60s')
  await kubectl?.run('delete daemonsets --all -n kube-system --now --timeout=60s')
  await server?.stop()
  kubectl?.remove()
  rmSync(dataDir, { recursive: true, force: true })
}, 60_000)

describe('the guestbook', () => {
  it('is Available, and its services lead to its pods', async () => {
    await apply('guestbook')
    await until('condition=Available', 'deployment/redis-leader', 'deployment/redis-follower', 'deployment/frontend')
    await until('jsonpath={.subsets[0].addresses[2].ip}', 'endpoints/frontend')
    expect(await kubectl.ok('get pods -l app=redis -o jsonpath={.items[*].status.phase}')).toBe('Running Running Running')
    expect(await kubectl.ok('exec deploy/frontend -- printenv REDIS_LEADER_SERVICE_PORT GET_HOSTS_FROM')).toBe('6379\ndns\n')
  })

  it('is scaled', async () => {
    for (const replicas of [5, 2]) {
      await kubectl.ok(`scale deployment frontend --replicas=${replicas}`)
      await kubectl.ok('rollout status deployment/frontend --timeout=60s')
      await expect.poll(async () => (await kubectl.ok('get pods -l app=guestbook -o name')).trim().split('\n').length, slow).toBe(replicas)
    }
  })

  it('answers through port-forward to its service', async () => {
    const forwarding = kubectl.start('port-forward service/frontend :80')
    onTestFinished(async () => void (await forwarding.stop()))
    const port = /:(\d+) ->/.exec(await forwarding.nextLine())?.[1]
    const answer = await fetch(`http://127.0.0.1:${port}/`)
    expect({ status: answer.status, text: await answer.text() }).toEqual({ status: 200, text: expect.stringContaining('container php-redis of pod default/frontend-') as string })
  })
})

describe('the StatefulSet tutorial', () => {
  const page = '/usr/share/nginx/html/index.html'

  it('has its pods in order, with claims and names of their own', async () => {
    await apply('stateful-web')
    await until('condition=Available', 'statefulset/web')
    expect(await kubectl.ok('get pods -l app=nginx -o jsonpath={.items[*].metadata.name}')).toBe('web-0 web-1')
    await until('jsonpath={.status.phase}=Bound', 'pvc/www-web-0', 'pvc/www-web-1')
    expect(await kubectl.ok('exec web-1 -- hostname')).toBe('web-1\n')
  })

  it('keeps what is written when its pods are made anew', async () => {
    for (const pod of ['web-0', 'web-1']) await kubectl.ok(`exec ${pod} -- sh -c 'echo $(hostname) > ${page}'`)
    const before = await kubectl.ok('get pods web-0 web-1 -o jsonpath={.items[*].metadata.uid}')
    await kubectl.ok('delete pod -l app=nginx')
    await kubectl.ok('rollout status statefulset/web --timeout=60s')
    await until('condition=Ready', 'pod/web-0', 'pod/web-1')
    expect(await kubectl.ok('get pods web-0 web-1 -o jsonpath={.items[*].metadata.uid}')).not.toBe(before)
    expect(await kubectl.ok(`exec web-1 -- cat ${page}`)).toBe('web-1\n')
  })

  it('is scaled up and down, and updated', async () => {
    await kubectl.ok('scale statefulset web --replicas=4')
    await until('jsonpath={.status.availableReplicas}=4', 'statefulset/web')
    await kubectl.ok(`patch statefulset web -p '{"spec":{"replicas":2}}'`)
    await until('delete', 'pod/web-3', 'pod/web-2')
    await kubectl.ok('set image statefulset/web nginx=registry.k8s.io/nginx-slim:0.24')
    await kubectl.ok('rollout status statefulset/web --timeout=60s')
    expect(await kubectl.ok('get pods -l app=nginx -o jsonpath={.items[*].spec.containers[0].image}')).toBe('registry.k8s.io/nginx-slim:0.24 registry.k8s.io/nginx-slim:0.24')
    expect((await kubectl.ok('get pvc -o name')).trim().split('\n')).toHaveLength(4)
  })
})

it('the DaemonSet of fluentd is on every node, and sees the logs of the machine', async () => {
  await apply('fluentd')
  await kubectl.ok('rollout status daemonset/fluentd-elasticsearch -n kube-system --timeout=60s')
  await kubectl.ok('wait --for=condition=Available daemonset/fluentd-elasticsearch -n kube-system --timeout=60s')
  await kubectl.ok('exec -n kube-system ds/fluentd-elasticsearch -- test -d /var/log')
})

describe('jobs', () => {
  it('the five of an indexed job each have their index', async () => {
    await apply('indexed-job')
    await until('condition=Complete', 'job/indexed-job')
    const words = await kubectl.ok('logs -l job-name=indexed-job -c worker --max-log-requests=5')
    expect(words.trim().split('\n').sort()).toEqual(['oof', 'rab', 'xuq', 'zab', 'zyx'])
  })

  it('one with a sidecar is Complete although the sidecar runs for ever', async () => {
    await apply('sidecar')
    await until('condition=Complete', 'job/myjob')
    await until('condition=Available', 'deployment/myapp')
    await expect.poll(() => kubectl.ok('logs deploy/myapp -c logshipper'), slow).toContain('logging\nlogging\n')
  })

  it('one that fails by its policy is not tried again', async () => {
    await until('condition=Failed', 'job/job-pod-failure-policy-failjob')
    expect(await kubectl.ok("get job job-pod-failure-policy-failjob -o jsonpath='{.status.conditions[?(@.type==\"Failed\")].reason}'")).toBe('PodFailurePolicy')
  })
})

describe('pods', () => {
  it('an init container prepares what the others serve', async () => {
    await apply('init-demo')
    await until('condition=Ready', 'pod/init-demo')
    expect(await kubectl.ok('exec init-demo -c nginx -- cat /usr/share/nginx/html/index.html')).toBe('<h1>made before the start</h1>\n')
  })

  it('a config map is in the environment, and in files', async () => {
    await apply('config-map')
    await until('jsonpath={.status.phase}=Succeeded', 'pod/config-env', 'pod/config-all', 'pod/config-volume')
    expect(await kubectl.ok('logs config-env')).toBe('very charm\n')
    expect(await kubectl.ok('logs config-all')).toMatch(/^SPECIAL_LEVEL=very$/m)
    expect(await kubectl.ok('logs config-volume')).toBe('SPECIAL_LEVEL\nSPECIAL_TYPE\n')
  })

  it('two containers share a volume, and one of them has ended', async () => {
    await apply('two-containers')
    await until('jsonpath={.status.containerStatuses[?(@.name=="debian-container")].state.terminated.reason}=Completed', 'pod/two-containers')
    expect(await kubectl.ok('exec two-containers -c nginx-container -- cat /usr/share/nginx/html/index.html')).toBe('Hello from the debian container\n')
  })

  it('the environment tells of the pod, its services and itself', async () => {
    await apply('environment')
    await until('jsonpath={.status.phase}=Succeeded', 'pod/command-demo')
    expect(await kubectl.ok('logs command-demo')).toMatch(/^command-demo\ntcp:\/\/127\.0\.0\.1:\d+\n$/)
    await until('condition=Ready', 'pod/dependent-envars-demo', 'pod/dapi-envars-fieldref')
    await expect.poll(() => kubectl.ok('logs dependent-envars-demo'), slow).toBe(
      'UNCHANGED_REFERENCE=$(PROTOCOL)://172.17.0.1:80\nSERVICE_ADDRESS=https://172.17.0.1:80\nESCAPED_REFERENCE=$(PROTOCOL)://172.17.0.1:80\n',
    )
    const [node, ip] = (await kubectl.ok('get pod dapi-envars-fieldref -o jsonpath={.spec.nodeName},{.status.podIP}')).split(',')
    await expect.poll(() => kubectl.ok('logs dapi-envars-fieldref'), slow).toContain(`\n${node}\ndapi-envars-fieldref\ndefault\n${ip}\ndefault\n`)
    await expect.poll(() => kubectl.ok('get pod termination-demo -o jsonpath={.status.containerStatuses[0].lastState.terminated.message}'), slow).toBe('Sleep expired\n')
  })

  it('sources are projected into one volume, which is read-only', async () => {
    await apply('projected')
    await until('condition=Ready', 'pod/volume-test')
    expect(await kubectl.ok("exec volume-test -- sh -c 'cd $COXSWAIN_ROOT/projected-volume && cat labels my-group/my-username my-group/my-config && ls'")).toBe(
      'zone="us-est-coast"my-applevel=finecpu_limit\nlabels\nmy-group\n',
    )
  })

  it('a claim is bound to the volume that fits, and holds what the machine has there', async () => {
    const data = path.join(mkdtempSync(path.join(tmpdir(), 'coxswain-mnt-')), 'data')
    const text = readFileSync(path.join(examples, 'persistent-volume.yaml'), 'utf8')
    await kubectl.ok('apply -f -', text.replace('/mnt/data', data))
    await until('condition=Ready', 'pod/task-pv-pod')
    expect(await kubectl.ok('get pvc task-pv-claim -o jsonpath={.spec.volumeName}')).toBe('task-pv-volume')
    writeFileSync(path.join(data, 'index.html'), 'Hello from Kubernetes storage\n')
    expect(await kubectl.ok("exec task-pv-pod -- sh -c 'cat $COXSWAIN_ROOT/usr/share/nginx/html/index.html'")).toBe('Hello from Kubernetes storage\n')
    rmSync(path.dirname(data), { recursive: true })
  })

  it('hooks are run after the start and before the end', async () => {
    await apply('hooks')
    await until('condition=Ready', 'pod/lifecycle-demo')
    expect(await kubectl.ok('exec lifecycle-demo -- cat /usr/share/message')).toBe('Hello from the postStart handler\n')
    await kubectl.ok('delete pod lifecycle-demo --timeout=60s')
  })

  it.runIf(process.getuid?.() === 0)('a security context says who the programs are, and whose the volumes', async () => {
    await apply('security-context')
    await until('condition=Ready', 'pod/security-context-demo')
    expect(await kubectl.ok("exec security-context-demo -- sh -c 'id -u; id -g; id -G'")).toMatch(/^1000\n3000\n3000 (2000 4000|4000 2000)\n$/)
    expect(await kubectl.ok("exec security-context-demo -- sh -c 'cd $COXSWAIN_ROOT/data/demo && echo hello > testfile && stat -c %g . testfile'")).toBe('2000\n2000\n')
  })

  it('placement waits for a label of the node, and for gates to be opened', async () => {
    await apply('placement')
    await until('condition=PodScheduled=False', 'pod/with-node-affinity')
    await kubectl.ok('label nodes --all disktype=ssd')
    await until('condition=Ready', 'pod/with-node-affinity')
    expect(await kubectl.ok('get pod test-pod --no-headers')).toMatch(/^test-pod +0\/1 +SchedulingGated +/)
    await kubectl.ok(`patch pod test-pod --type=json -p '[{"op":"remove","path":"/spec/schedulingGates"}]'`)
    await until('condition=Ready', 'pod/test-pod')
  })
})

describe('kubectl cp', () => {
  it('carries a file to a pod of the guestbook and to the tutorial, and back', async () => {
    const [frontend = ''] = (await kubectl.ok('get pods -l app=guestbook -o jsonpath={.items[*].metadata.name}')).split(' ')
    for (const pod of [frontend, 'web-0']) {
      kubectl.file(`${pod}-there`, `for ${pod}\n`)
      await kubectl.ok(`cp ${pod}-there ${pod}:/tmp/file`)
      await kubectl.ok(`cp ${pod}:/tmp/file ${pod}-back`)
      expect(readFileSync(path.join(kubectl.dir, `${pod}-back`), 'utf8')).toBe(`for ${pod}\n`)
    }
  })
})

describe('what nothing here acts upon is kept as it is', () => {
  it('an autoscaler, beside its deployment', async () => {
    await apply('autoscaler')
    await until('condition=Available', 'deployment/php-apache')
    expect(await kubectl.ok('get hpa php-apache --no-headers')).toMatch(/^php-apache +Deployment\/php-apache +cpu: <unknown>\/50% +1 +10 +0 +/)
  })

  it('an ingress and a network policy', async () => {
    await apply('ingress')
    expect(await kubectl.ok('get ingress minimal-ingress --no-headers')).toMatch(/^minimal-ingress +nginx-example +\* +80 +/)
    expect(await kubectl.ok('describe networkpolicy access-nginx')).toContain('PodSelector: access=true')
  })
})

it('a disruption budget lets one of three go', async () => {
  await apply('disruption-budget')
  await until('condition=Available', 'deployment/zk')
  await until('jsonpath={.status.disruptionsAllowed}=1', 'pdb/zk-pdb')
})

describe('what takes its time', () => {
  it('pi is printed with 2,000 digits', async () => {
    await expect.poll(() => kubectl.ok('get job pi -o jsonpath={.status.succeeded}{.status.failed}'), slow).toBe('1')
    await until('condition=Complete', 'job/pi')
    const digits = await kubectl.ok('logs job/pi')
    expect(digits.slice(0, 22)).toBe('3.14159265358979323846')
    expect(digits.trim()).toHaveLength(2001)
  })

  it('a pod with a delay before its first probe gets Ready after it', async () => {
    await expect.poll(() => kubectl.ok("get pod goproxy -o jsonpath='{.status.conditions[?(@.type==\"Ready\")].status}'"), slow).toBe('True')
    expect(await kubectl.ok('get pod goproxy -o jsonpath={.status.containerStatuses[0].restartCount}')).toBe('0')
  })

  it('a container that is no longer healthy is started again', async () => {
    await expect.poll(() => kubectl.ok('get pod liveness-exec -o jsonpath={.status.containerStatuses[0].restartCount}'), slow).toBe('1')
    await expect.poll(() => kubectl.ok('describe pod liveness-exec'), slow).toMatch(/Unhealthy .*Liveness probe failed: cat: .*healthy.*: No such file or directory/)
  })

  it('the cron job says hello each minute, and whenever it is asked to', async () => {
    await kubectl.ok('create job asked --from=cronjob/hello')
    await until('condition=Complete', 'job/asked')
    expect(await kubectl.ok('logs job/asked')).toContain('Hello from the Kubernetes cluster\n')
    await expect.poll(() => kubectl.ok('get cronjob hello -o jsonpath={.status.lastSuccessfulTime}'), slow).toMatch(/^20/)
  })
}, 110_000)
