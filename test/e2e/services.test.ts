import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { type Server, connect } from 'node:net'
import { createServer } from 'node:net'
import { availableParallelism, loadavg } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type RunningServer, hasContainers, startEverything, startServer } from '../kubectl/coxswain.ts'
import { Kubectl } from '../kubectl/kubectl.ts'

/**
 * The runtime on which Services are tested, with the flags of `up`, and the address at which its node ports answer. The
 * tests of test/cri run this file again.
 */
const runtimes: { name: 'process' | 'cri'; flags: readonly string[]; nodeAddress: string }[] = hasContainers
  ? [{ name: 'cri', flags: [], nodeAddress: '192.0.2.2' }]
  : [{ name: 'process', flags: ['--runtime', 'process'], nodeAddress: '127.0.0.1' }]

/** The image of the example. On cri it has programs of this machine, on process it stands for the machine itself. */
const image = 'node:22-alpine'

/** Gives the machine a link with a default route, as a node has it, and its containerd the image. */
async function prepareContainers(nodeAddress: string): Promise<void> {
  const { importImage } = await import('../cri/containerd.ts')
  const { makeImage } = await import('../cri/images.ts')
  const programs = [process.execPath, ...['curl', 'dig'].map((name) => `/usr/bin/${name}`)]
  await importImage(process.env['COXSWAIN_CRI_ENDPOINT']!.replace('unix://', ''), `docker.io/library/${image}`, makeImage({ cmd: ['sh'], programs }))
  const ip = (line: string) => execFileSync('ip', line.split(' '))
  ip('link add away type bridge')
  ip(`address add ${nodeAddress}/24 dev away`)
  ip('link set away up')
  ip('route add default via 192.0.2.1')
}

// Cluster IPs lie on the loopback interface, of which only Linux has every address; and only root may open ports below 1024.
const mayServe = process.platform === 'linux' && process.getuid?.() === 0
const dir = mayServe ? mkdtempSync('/var/tmp/coxswain-services-') : ''
// No name of this test is ever asked of the machine's resolvers: nobody listens at this address.
const resolvConf = path.join(dir, 'resolv.conf')
const common = ['--node-name', 'n1', '--resolv-conf', resolvConf, '--dashboard', 'false']

if (mayServe) writeFileSync(resolvConf, 'nameserver 127.0.0.99\nsearch lan.test\n')
afterAll(() => {
  if (mayServe) rmSync(dir, { recursive: true, force: true })
})

const write = (name: string, ...items: object[]): string => {
  const file = path.join(dir, `${name}.json`)
  writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
  return file
}
const pod = (name: string, container: object = {}, spec: object = {}) => ({
  apiVersion: 'v1', kind: 'Pod', metadata: { name, labels: { app: name } },
  spec: { terminationGracePeriodSeconds: 0, containers: [{ name: 'app', image, command: ['sleep', '10000'], ...container }], ...spec },
})
const service = (name: string, spec: object) => ({ apiVersion: 'v1', kind: 'Service', metadata: { name }, spec: { selector: { app: name }, ...spec } })

/** Asks over HTTP on a connection of its own. */
const ask = (host: string, port = 80): Promise<string> =>
  new Promise((resolve, reject) => {
    const request = get({ host, port, path: '/', agent: false, timeout: 40_000 }, (answer) => {
      let text = ''
      answer.on('data', (piece: Buffer) => (text += piece.toString())).on('end', () => (answer.statusCode === 200 ? resolve(text) : reject(new Error(text))))
      answer.on('error', reject)
    })
    request.on('error', reject).on('timeout', () => request.destroy(new Error('no answer')))
  })

describe.runIf(mayServe).each(runtimes)('services on the runtime $name', ({ name, flags, nodeAddress }) => {
  let server: RunningServer
  let kubectl: Kubectl
  const data = path.join(dir, name)
  const clusterIp = (of: string) => kubectl.ok(`get service ${of} -o jsonpath={.spec.clusterIP}`)
  const shell = async (line: string) => (await kubectl.run('exec -i box -- sh', line)).out

  beforeAll(async () => {
    if (name === 'cri') await prepareContainers(nodeAddress)
    server = await startEverything(data, [...flags, ...common])
    kubectl = new Kubectl(server.kubeconfig)
    await kubectl.ok(`apply -f ${path.resolve('examples/three-tier.yaml')}`)
    await kubectl.ok(`apply -f ${write('box', pod('box'))}`)
    await kubectl.ok('rollout status statefulset/store deployment/backend deployment/frontend --timeout=90s')
    await kubectl.ok('wait pod/box --for=condition=Ready --timeout=60s')
  })

  afterAll(async () => {
    await kubectl?.run('delete deployment,statefulset,pod --all --force --grace-period=0')
    kubectl?.remove()
    await server?.stop()
    if (name === 'cri') execFileSync('ip', ['link', 'delete', 'away'])
  })

  it('brings a pod to the pods behind a name, and those to theirs', async () => {
    const text = await shell('curl -sS --max-time 10 http://frontend/')
    expect(text).toMatch(/^frontend-\w+-\w+: visit \d+, counted by backend-\w+-\w+\n$/)
  })

  it.each([
    ['its name in another namespace', 'curl -sS http://frontend.default/'],
    ['its whole name', 'curl -sS http://frontend.default.svc.cluster.local/'],
    ['its address', 'curl -sS http://$FRONTEND_SERVICE_HOST:$FRONTEND_SERVICE_PORT/'],
  ])('is reached by %s', async (_, command) => {
    expect(await shell(command)).toContain('counted by')
  })

  it('answers on the node\'s port, and spreads connections over all pods', async () => {
    const port = Number(await kubectl.ok('get service frontend -o jsonpath={.spec.ports[0].nodePort}'))
    const answers = await Promise.all(Array.from({ length: 30 }, () => ask(nodeAddress, port)))
    expect(new Set(answers.map((text) => text.split(':')[0])).size).toBe(2)
  })

  it('gives pods the cluster\'s resolver, as their dnsPolicy and dnsConfig say', async () => {
    const dnsConfig = { options: [{ name: 'ndots', value: '2' }], searches: ['more.test'] }
    const show = { command: ['sh', '-c', 'cat /etc/resolv.conf'] }
    await kubectl.ok(`apply -f ${write('dns', ...[['first', { dnsConfig }], ['default', { dnsPolicy: 'Default' }], ['none', { dnsPolicy: 'None', dnsConfig: { nameservers: ['127.0.0.98'] } }]].map(([at, spec]) =>
      pod(`dns-${at as string}`, show, { restartPolicy: 'Never', ...(spec as object) })))}`)
    for (const at of ['first', 'default', 'none']) await kubectl.ok(`wait pod/dns-${at} --for=jsonpath={.status.phase}=Succeeded --timeout=60s`)
    const dns = await kubectl.ok('get service kube-dns -n kube-system -o jsonpath={.spec.clusterIP}')
    expect(await kubectl.ok('logs dns-first')).toBe(`search default.svc.cluster.local svc.cluster.local cluster.local lan.test more.test\nnameserver ${dns}\noptions ndots:2\n`)
    expect(await kubectl.ok('logs dns-default')).toBe('search lan.test\nnameserver 127.0.0.99\n')
    expect(await kubectl.ok('logs dns-none')).toBe('nameserver 127.0.0.98\n')
  })

  it.runIf(existsSync('/usr/bin/dig'))('answers dig for names, ports and addresses', async () => {
    const dig = async (question: string) => (await shell(`dig +short +time=2 +tries=1 ${question}`)).trim().split('\n').sort()
    const ips = async (selector: string) => (await kubectl.ok(`get pods -l app=${selector} -o jsonpath={.items[*].status.podIP}`)).split(' ').sort()
    expect(await dig('+search backend')).toEqual([await clusterIp('backend')])
    expect(await dig('_http._tcp.backend.default.svc.cluster.local SRV')).toEqual(['0 100 80 backend.default.svc.cluster.local.'])
    expect(await dig('store.default.svc.cluster.local')).toEqual(await ips('store'))
    expect(await dig('store-0.store.default.svc.cluster.local')).toEqual(await ips('store'))
    expect(await dig(`-x ${(await ips('store'))[0]}`)).toEqual(['store-0.store.default.svc.cluster.local.'])
    expect(await dig(`-x ${await clusterIp('backend')}`)).toEqual(['backend.default.svc.cluster.local.'])
  })

  it('reaches the API by its service, which shows a certificate for it', async () => {
    const ca = '/var/run/secrets/kubernetes.io/serviceaccount/ca.crt'
    expect(await shell(`curl -sS --cacert ${ca} https://kubernetes.default/livez; curl -sS --cacert ${ca} https://${await clusterIp('kubernetes')}/livez`)).toBe('okok')
  })

  it('refuses at once where no pod is ready, and answers as soon as one is', async () => {
    const web = service('late', { ports: [{ port: 8080, targetPort: 'http' }] })
    await kubectl.ok(`apply -f ${write('late-service', web)}`)
    const ip = await clusterIp('late')
    await expect(ask(ip, 8080)).rejects.toThrow('ECONNREFUSED')
    await kubectl.ok(`apply -f ${write('late', pod('late', { command: undefined, image: 'nginx', ports: [{ name: 'http', containerPort: 80 }] }))}`)
    await kubectl.ok('wait pod/late --for=condition=Ready --timeout=60s')
    await vi.waitFor(async () => expect(await ask(ip, 8080)).toContain('pod default/late'), { timeout: 40_000, interval: 50 })
    await kubectl.ok('delete pod late --force --grace-period=0')
    await vi.waitFor(() => expect(ask(ip, 8080)).rejects.toThrow('ECONNREFUSED'), { timeout: 40_000, interval: 50 })
  })

  it('keeps a client with its pod where the service wants that', async () => {
    await kubectl.ok(`patch service frontend -p '{"spec":{"sessionAffinity":"ClientIP"}}'`)
    const ip = await clusterIp('frontend')
    await vi.waitFor(async () => {
      const answers = await Promise.all(Array.from({ length: 12 }, () => ask(ip)))
      expect(new Set(answers.map((text) => text.split(':')[0])).size).toBe(1)
    }, { timeout: 40_000, interval: 100 })
    await kubectl.ok(`patch service frontend -p '{"spec":{"sessionAffinity":"None"}}'`)
  })

  // With cri no program of the machine can have the port of a cluster IP.
  it.runIf(name === 'process')('says in an event that a port is taken by another program', async () => {
    const taken: Server = createServer()
    const port = await new Promise<number>((resolve) => taken.listen(0, '0.0.0.0', () => resolve((taken.address() as { port: number }).port)))
    await kubectl.ok(`apply -f ${write('taken', service('taken', { selector: { app: 'frontend' }, ports: [{ port, targetPort: 8080 }] }))}`)
    await vi.waitFor(async () => {
      expect(await kubectl.ok('get events --field-selector involvedObject.name=taken -o jsonpath={.items[*].reason}')).toBe('PortInUse')
    }, { timeout: 40_000, interval: 200 })
    taken.close()
    const ip = await clusterIp('taken')
    await vi.waitFor(async () => expect(await ask(ip, port)).toContain('counted by'), { timeout: 40_000, interval: 200 })
  })

  it('loses none of 200 requests a second while the frontend and the backend are rolled', async () => {
    const ip = await clusterIp('frontend')
    const failures: string[] = []
    const answeredBy = new Set<string>()
    let sent = 0
    let answered = 0
    const beganMs = performance.now()
    // Other work on the machine leaves no time for the rate.
    const isBusy = loadavg()[0]! > 2 * availableParallelism()
    /**
     * Sends what is due. A late timer is made up for, but not more than the pods can take: on a machine without time for
     * 200 requests a second the rate is missed, not the answers.
     */
    const send = () => {
      for (const dueMs = performance.now() - beganMs; sent * 5 < dueMs && sent - answered - failures.length < 60; sent++) {
        ask(ip).then((text) => {
          answered++
          answeredBy.add(text.split(':')[0]!)
        }, (error: Error) => failures.push(error.message))
      }
    }
    const load = setInterval(send, 5)
    await kubectl.ok('rollout restart deployment/frontend deployment/backend')
    await kubectl.ok('rollout status deployment/frontend deployment/backend --timeout=90s')
    // The pods that are replaced end while requests still come.
    await vi.waitFor(async () => expect((await kubectl.ok('get pods -l app=frontend -o name')).trim().split('\n').length).toBe(2), { timeout: 30_000, interval: 200 })
    clearInterval(load)
    const perSecond = sent / (performance.now() - beganMs) * 1000
    await vi.waitFor(() => expect(answered + failures.length).toBe(sent), { timeout: 40_000, interval: 50 })
    expect(failures).toEqual([])
    expect(answeredBy.size).toBeGreaterThanOrEqual(4)
    expect(sent).toBeGreaterThan(200)
    if (!isBusy) expect(perSecond).toBeGreaterThan(195)
  })

  it('goes on with its connections when the pods behind change, and has none left in the end', async () => {
    const ip = await clusterIp('backend')
    const socket = connect({ host: ip, port: 80 })
    await new Promise((resolve) => socket.once('connect', resolve))
    await kubectl.ok('scale deployment backend --replicas=1')
    const answer = new Promise<string>((resolve) => socket.once('data', (piece: Buffer) => resolve(piece.toString())))
    socket.write('GET / HTTP/1.1\r\nHost: backend\r\n\r\n')
    expect(await answer).toContain('200 OK')
    socket.destroy()
  })
})

describe.runIf(mayServe && !hasContainers)('a data directory from before', () => {
  it('has its services on the loopback interface once pods are processes', async () => {
    const data = path.join(dir, 'older')
    const before = await startServer(data)
    const old = new Kubectl(before.kubeconfig)
    await old.ok(`apply -f ${write('old', service('web', { ports: [{ port: 80, targetPort: 8080 }] }))}`)
    expect(await old.ok('get services -o jsonpath={.items[*].spec.clusterIP}')).toMatch(/^10\.0\.0\.1 10\.0\.0\.\d+$/)
    old.remove()
    await before.stop()
    const server = await startEverything(data, ['--runtime', 'process', ...common])
    const kubectl = new Kubectl(server.kubeconfig)
    try {
      await kubectl.ok(`apply -f ${write('pod', pod('web', { command: undefined, image: 'nginx', ports: [{ containerPort: 8080 }] }))}`)
      await kubectl.ok('wait pod/web --for=condition=Ready --timeout=60s')
      const [api, ip] = (await kubectl.ok('get services -o jsonpath={.items[*].spec.clusterIP}')).split(' ')
      expect(api).toMatch(/^127\.\d+\.\d+\.1$/)
      await vi.waitFor(async () => expect(await ask(ip!)).toContain('pod default/web'), { timeout: 40_000, interval: 50 })
      expect((await kubectl.ok('get ipaddresses -o name')).split('\n').filter((line) => line.includes('/10.'))).toEqual([])
    } finally {
      await kubectl.run('delete pod --all --force --grace-period=0')
      kubectl.remove()
      await server.stop()
    }
  })
})
