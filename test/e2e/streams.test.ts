import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { type RunningServer, startEverything } from '../kubectl/coxswain.ts'
import { Kubectl } from '../kubectl/kubectl.ts'

const pods = `
apiVersion: v1
kind: Pod
metadata: { name: talk }
spec:
  terminationGracePeriodSeconds: 0
  containers:
    - { name: main, image: busybox, command: [sh, -c, 'for i in 1 2 3; do echo line $i; done; sleep 0.5; echo oops >&2; touch /tmp/said; until [ -e /tmp/more ]; do sleep 0.1; done; echo more; exec sleep 600'] }
    - { name: web, image: nginx, ports: [{ containerPort: 80 }] }
---
apiVersion: v1
kind: Pod
metadata: { name: fails }
spec:
  terminationGracePeriodSeconds: 0
  containers:
    - { name: main, image: busybox, command: [sh, -c, 'echo try; exit 1'] }
---
apiVersion: v1
kind: Pod
metadata: { name: waits }
spec:
  terminationGracePeriodSeconds: 0
  containers:
    - { name: main, image: busybox, envFrom: [{ configMapRef: { name: none } }] }
---
apiVersion: v1
kind: Pod
metadata: { name: climbs }
spec:
  terminationGracePeriodSeconds: 0
  volumes: [{ name: data, emptyDir: {} }]
  containers:
    - { name: up, image: busybox, command: [sleep, '600'], env: [{ name: X, value: ../../../../../../../../etc }], volumeMounts: [{ name: data, mountPath: /host, subPathExpr: $(X) }] }
    - { name: inside, image: busybox, command: [sh, -c, 'ls /part > /part/seen; sleep 600'], volumeMounts: [{ name: data, mountPath: /part, subPath: a/b }, { name: data, mountPath: /all }] }
`

let dataDir: string
let server: RunningServer
let kubectl: Kubectl

beforeAll(async () => {
  dataDir = mkdtempSync(path.join(tmpdir(), 'coxswain-streams-'))
  server = await startEverything(dataDir)
  kubectl = new Kubectl(server.kubeconfig)
  kubectl.file('pods.yaml', pods)
  await kubectl.ok('apply -f pods.yaml')
  await kubectl.ok('wait --for=condition=Ready pod/talk --timeout=60s')
  await kubectl.ok("wait --for=jsonpath={.status.containerStatuses[0].lastState.terminated.exitCode}=1 pod/fails --timeout=60s")
  await kubectl.ok("wait --for=jsonpath={.status.containerStatuses[0].state.waiting.reason}=CreateContainerConfigError pod/waits --timeout=60s")
  await kubectl.ok('exec talk -c main -- sh -c "until [ -e /tmp/said ]; do sleep 0.1; done"')
}, 60_000)

afterAll(async () => {
  await kubectl?.run('delete pods --all --now --timeout=60s')
  await server?.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

describe('kubectl logs', () => {
  it.each([
    ['logs talk -c main', 'line 1\nline 2\nline 3\noops\n'],
    ['logs talk -c main --tail=2', 'line 3\noops\n'],
    ['logs talk -c main --limit-bytes=9', 'line 1\nli'],
    ['logs talk -c main --since-time=2100-01-01T00:00:00Z', ''],
    ['logs fails --previous', 'try\n'],
  ])('%s', async (line, expected) => {
    expect(await kubectl.ok(line)).toBe(expected)
  })

  it('--timestamps tells when', async () => {
    expect(await kubectl.ok('logs talk -c main --tail=1 --timestamps')).toMatch(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z oops\n$/)
  })

  it.each([
    ['logs talk -c main --previous', 'Error from server (BadRequest): previous terminated container "main" in pod "talk" not found\n'],
    ['logs waits', 'Error from server (BadRequest): container "main" in pod "waits" is waiting to start: CreateContainerConfigError\n'],
  ])('%s is refused', async (line, expected) => {
    expect(await kubectl.refused(line)).toBe(expected)
  })

  it('-f shows what comes as it comes', async () => {
    const following = kubectl.start('logs -f talk -c main --tail=1')
    onTestFinished(async () => void (await following.stop()))
    expect(await following.nextLine()).toBe('oops')
    await kubectl.ok('exec talk -c main -- touch /tmp/more')
    expect(await following.nextLine()).toBe('more')
  })
})

describe.each([['over a WebSocket', 'true'], ['over SPDY', 'false']])('kubectl exec %s', (_how, isWebSocket) => {
  const env = { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: isWebSocket }

  it('ends with the exit code, with both outputs apart', async () => {
    expect(await kubectl.run('exec talk -c main -- sh -c "echo out; echo err >&2; exit 3"', '', env)).toEqual({ code: 3, out: 'out\n', err: 'err\ncommand terminated with exit code 3\n' })
  })

  it('hands over stdin to its end', async () => {
    const text = 'some words\n'.repeat(20_000)
    expect(await kubectl.ok('exec -i talk -c main -- cat', text, env)).toBe(text)
  })

  it('says that there is no such program', async () => {
    const { code, err } = await kubectl.run('exec talk -c main -- no-such-program', '', env)
    expect(code).not.toBe(0)
    expect(err).toContain('no-such-program')
  })
})

it('a pod gets no more of the machine than its volume by an expression', async () => {
  await kubectl.ok("wait --for=jsonpath={.status.containerStatuses[0].state.waiting.reason}=CreateContainerConfigError pod/climbs --timeout=60s")
  const said = await kubectl.ok('get pod climbs -o jsonpath={.status.containerStatuses[0].state.waiting.message}')
  expect(said).toBe("unable to provision SubPath `../../../../../../../../etc`: must not contain '..'")
  expect(await kubectl.ok('exec climbs -c inside -- find /all -type f')).toBe('/all/a/b/seen\n')
})

it('kubectl cp carries files both ways', async () => {
  const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, i) => (i * i) & 255))
  writeFileSync(path.join(kubectl.dir, 'there'), bytes)
  await kubectl.ok('cp there talk:/tmp/file -c main')
  await kubectl.ok('cp talk:/tmp/file back -c main')
  expect(readFileSync(path.join(kubectl.dir, 'back')).equals(bytes)).toBe(true)
})

it('kubectl attach shows what a container says, and run -i talks to it', async () => {
  expect(await kubectl.ok('run asks --image=busybox -i --restart=Never --quiet --command -- sh -c "read x; echo got $x"', 'hello\n')).toContain('got hello')
})

it('kubectl port-forward reaches a port of the pod', async () => {
  const forwarding = kubectl.start('port-forward pod/talk :80')
  onTestFinished(async () => void (await forwarding.stop()))
  const port = /:(\d+) ->/.exec(await forwarding.nextLine())?.[1]
  for (let i = 0; i < 3; i++) {
    const answer = await fetch(`http://127.0.0.1:${port}/`)
    expect(await answer.text()).toContain('container web of pod default/talk')
  }
})

/** The user of the kubeconfig, as TLS wants it. */
function credentials() {
  const text = readFileSync(server.kubeconfig, 'utf8')
  const field = (name: string) => Buffer.from(new RegExp(`${name}: (\\S+)`).exec(text)![1]!, 'base64').toString()
  return { ca: field('certificate-authority-data'), cert: field('client-certificate-data'), key: field('client-key-data') }
}

const webPod = (name: string) => JSON.stringify({
  apiVersion: 'v1', kind: 'Pod', metadata: { name },
  spec: { terminationGracePeriodSeconds: 0, containers: [{ name: 'web', image: 'nginx', ports: [{ containerPort: 80 }] }] },
})

it('kubectl port-forward ends when the pod goes', async () => {
  await kubectl.ok('create -f -', webPod('leaves'))
  await kubectl.ok('wait --for=condition=Ready pod/leaves --timeout=60s')
  const forwarding = kubectl.start('port-forward pod/leaves :80')
  onTestFinished(async () => void (await forwarding.stop()))
  await forwarding.nextLine()
  await kubectl.ok('delete pod leaves --now --timeout=60s')
  const { code, err } = await forwarding.ended
  expect([code, err]).toEqual([1, expect.stringContaining('lost connection to pod')])
})

it('a WebSocket to a port closes when the pod goes, also where nobody has connected', async () => {
  await kubectl.ok('create -f -', webPod('goes'))
  await kubectl.ok('wait --for=condition=Ready pod/goes --timeout=60s')
  // Nobody listens on the second port: its error does not end the connection.
  const url = `${server.url.replace('https', 'wss')}/api/v1/namespaces/default/pods/goes/portforward?ports=80&ports=81`
  const client = new WebSocket(url, ['v4.channel.k8s.io'], credentials())
  const channels: number[] = []
  client.on('message', (message: Buffer) => channels.push(message[0]!))
  const closed = new Promise<number>((resolve) => client.once('close', resolve))
  await expect.poll(() => channels.filter((c) => c === 3).length, { timeout: 40_000 }).toBe(2)
  await kubectl.ok('delete pod goes --now --timeout=60s')
  expect(await closed).toBe(1000)
})

it('kubectl exec carries megabytes through a WebSocket', async () => {
  const bytes = Buffer.alloc(15 << 20, 'coxswain ')
  writeFileSync(path.join(kubectl.dir, 'large'), bytes)
  await kubectl.ok('cp large talk:/tmp/large -c main')
  expect(await kubectl.ok('exec talk -c main -- wc -c /tmp/large')).toBe(`${bytes.length} /tmp/large\n`)
})

describe('requests through the API server', () => {
  const said = 'container web of pod default/talk'

  it('reach a pod', async () => {
    expect(await kubectl.ok('get --raw /api/v1/namespaces/default/pods/talk:80/proxy/')).toContain(said)
    expect(await kubectl.ok('get --raw /api/v1/namespaces/default/pods/http:talk:80/proxy/any/path?q=1')).toContain(said)
  })

  it('reach the pods of a service', async () => {
    await kubectl.ok('label pod talk app=talk')
    await kubectl.ok('create -f -', JSON.stringify({
      apiVersion: 'v1', kind: 'Service', metadata: { name: 'shop' }, spec: { selector: { app: 'talk' }, ports: [{ name: 'http', port: 8000, targetPort: 80 }] },
    }))
    for (const id of ['shop:http', 'shop:8000']) {
      await expect.poll(async () => (await kubectl.run(`get --raw /api/v1/namespaces/default/services/${id}/proxy/`)).out, { timeout: 40_000 }).toContain(said)
    }
    expect(await kubectl.refused('get --raw /api/v1/namespaces/default/services/shop:9/proxy/')).toBe(
      'Error from server (ServiceUnavailable): no service port 9 found for service "shop"\n')
  })

  it('reach the agent of a node', async () => {
    const node = await kubectl.ok('get nodes -o jsonpath={.items[0].metadata.name}')
    expect(await kubectl.ok(`get --raw /api/v1/nodes/${node}/proxy/metrics/resource`)).toContain('node_cpu_usage_seconds_total')
    expect(await kubectl.ok(`get --raw /api/v1/nodes/${node}/proxy/containerLogs/default/talk/main?tailLines=1`)).not.toBe('')
  })

  it('pass kubectl proxy', async () => {
    const proxy = kubectl.start('proxy --port=0')
    onTestFinished(async () => void (await proxy.stop()))
    const at = /127\.0\.0\.1:\d+/.exec(await proxy.nextLine())![0]
    // The redirect to the path with a slash is followed, and leads through the proxy again.
    const answer = await fetch(`http://${at}/api/v1/namespaces/default/pods/talk:80/proxy`)
    expect([answer.status, new URL(answer.url).pathname, await answer.text()]).toEqual([200, '/api/v1/namespaces/default/pods/talk:80/proxy/', expect.stringContaining(said)])
  })
})

it('the node answers nobody who shows no certificate', async () => {
  const port = Number(await kubectl.ok('get nodes -o jsonpath={.items[0].status.daemonEndpoints.kubeletEndpoint.Port}'))
  const code = await new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path: '/containerLogs/default/talk/main', rejectUnauthorized: false }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
      .on('error', reject)
      .end()
  })
  expect(code).toBe(401)
})
