import { spawnSync } from 'node:child_process'
import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startEverything } from '../kubectl/coxswain.ts'
import { Kubectl } from '../kubectl/kubectl.ts'
import { shellIn, successesOf, trespassesOn } from './trespasses.ts'

const nobody = { uid: 65_534, gid: 65_534 }
const isRoot = process.getuid?.() === 0 && process.platform === 'linux'
// The kernel may keep user namespaces to root; then pods are not isolated, and the node says so: docs/runtimes.md.
const hasNamespaces = isRoot && spawnSync('unshare', ['--user', '--map-root-user', '--mount', '--pid', '--fork', 'true'], { ...nobody }).status === 0
const dir = hasNamespaces ? mkdtempSync('/var/tmp/coxswain-not-root-') : ''
const data = path.join(dir, 'home/data')
const outside = path.join(dir, 'outside')
let server: Awaited<ReturnType<typeof startEverything>>
let kubectl: Kubectl

const container = (rest: object = {}) => ({ name: 'app', image: 'busybox', command: ['sleep', '1000'], ...rest })
const pod = (name: string, spec: object = {}) => ({
  apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: { terminationGracePeriodSeconds: 0, containers: [container()], ...spec },
})

async function apply(name: string, ...objects: object[]): Promise<void> {
  const file = path.join(dir, `${name}.json`)
  writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }))
  await kubectl.ok(`apply -f ${file}`)
}
const trespasses = () => trespassesOn({ kubectl, server, data, outside })

beforeAll(async () => {
  if (!hasNamespaces) return
  mkdirSync(outside, { mode: 0o755 })
  for (const at of [dir, path.join(dir, 'home')]) {
    mkdirSync(at, { recursive: true })
    chownSync(at, nobody.uid, nobody.gid)
  }
  server = await startEverything(data, ['--runtime', 'process', '--node-name', 'n1', '--dashboard', 'false'], nobody)
  kubectl = new Kubectl(server.kubeconfig)
  await kubectl.ok('create secret generic keys --from-literal=key=of-victim')
  const volumes = [{ name: 'keys', secret: { secretName: 'keys', defaultMode: 0o400 } }, { name: 'open', secret: { secretName: 'keys' } }, { name: 'empty', emptyDir: {} }]
  const volumeMounts = [{ name: 'keys', mountPath: '/keys' }, { name: 'open', mountPath: '/open' }, { name: 'empty', mountPath: '/usr/share/empty' }]
  await apply('pods',
    pod('victim', { volumes, containers: [container({ volumeMounts })] }),
    pod('thief'),
    pod('root', { securityContext: { runAsUser: 0, runAsGroup: 0 } }),
    pod('user', { securityContext: { runAsUser: 1234 } }),
    pod('privileged', { containers: [container({ securityContext: { privileged: true } })] }),
    pod('host', { volumes: [{ name: 'machine', hostPath: { path: '/var' } }], containers: [container({ volumeMounts: [{ name: 'machine', mountPath: '/machine' }] })] }))
  await kubectl.ok('wait pod --all --for=condition=Ready --timeout=60s')
  await shellIn(kubectl, 'victim', 'echo x > /usr/share/empty/y')
}, 90_000)

afterAll(async () => {
  if (!hasNamespaces) return
  await kubectl?.run('delete pods --all --force --grace-period=0')
  kubectl?.remove()
  await server?.stop()
  rmSync(dir, { recursive: true, force: true })
})

describe.runIf(hasNamespaces)('a pod of a node that is not root', () => {
  it('has a root directory, processes and a host name of its own', async () => {
    const { out } = await shellIn(kubectl, 'victim', 'hostname; id -u; cat /keys/key /open/key; echo; ls /usr/share/empty; echo made > /etc/mine && cat /etc/mine; ls /proc | grep -c "^[0-9]*$"; echo > /dev/null && echo null')
    const [name, uid, keys, empty, mine, processes, nothing] = out.trim().split('\n')
    expect([name, uid, keys, empty, mine, nothing]).toEqual(['victim', '0', 'of-victimof-victim', 'y', 'made', 'null'])
    expect(Number(processes)).toBeLessThan(12)
    expect(() => readFileSync('/etc/mine')).toThrow('ENOENT')
  })

  it('is told as isolated', async () => {
    expect(await kubectl.ok('get node n1 -o jsonpath={.status.conditions[*].type}')).not.toContain('PodsIsolated')
  })

  it('is the user that its security context names', async () => {
    expect((await shellIn(kubectl, 'user', 'id -u')).out.trim()).toBe('1234')
  })

  it.each(['thief', 'root', 'user', 'privileged', 'host'])('cannot get at what is not its own: %s', async (name) => {
    const others = [`ls /machine/${path.relative('/var', data)}`, `cat /machine/${path.relative('/var', server.kubeconfig)}`, `umount ${data}`, `unshare --user --map-root-user --mount sh -c "umount ${data}; cat ${server.kubeconfig}"`]
    expect(await successesOf(kubectl, name, [...(await trespasses()), ...others, `kill -9 ${server.pid}`])).toEqual([])
    expect((await kubectl.run('get --raw /livez')).out).toBe('ok')
  })

  it('sees no more of the node when it leaves its root directory', async () => {
    // An attack that uses the capability to change the root directory, and an open directory outside of the new one.
    const escape = `
      import os
      fd = os.open('/', os.O_RDONLY)
      os.makedirs('/tmp/deep', exist_ok=True)
      os.chroot('/tmp/deep')
      os.fchdir(fd)
      for _ in range(64): os.chdir('..')
      os.chroot('.')
      print(os.path.exists('${data}'), os.path.exists('${server.kubeconfig}'))`
    const { out } = await kubectl.run('exec -i thief -- python3 -', escape.replaceAll(/\n {6}/g, '\n'))
    // Without Python there is nothing to see, and other tests have tried the rest.
    expect(out.trim().split(' ').at(-1)).not.toBe('True')
  })

  it('is reached through its service, at the ports that its user may open', async () => {
    const service = (name: string, port: number) => ({ apiVersion: 'v1', kind: 'Service', metadata: { name }, spec: { type: 'NodePort', selector: { app: 'web' }, ports: [{ port, targetPort: 8081 }] } })
    const web = pod('web', { containers: [{ name: 'app', image: 'nginx', ports: [{ containerPort: 8081 }] }] })
    await apply('web', { ...web, metadata: { name: 'web', labels: { app: 'web' } } }, service('web', 8080), service('low', 80))
    await kubectl.ok('wait pod/web --for=condition=Ready --timeout=60s')
    const ip = await kubectl.ok('get service web -o jsonpath={.spec.clusterIP}')
    const nodePort = await kubectl.ok('get service low -o jsonpath={.spec.ports[0].nodePort}')
    const curl = (host: string) => shellIn(kubectl, 'thief', `curl -sS --max-time 3 http://${host}/`)
    await vi.waitFor(async () => expect((await curl(`${ip}:8080`)).out).toContain('pod default/web'), { timeout: 40_000, interval: 200 })
    expect((await curl(`127.0.0.1:${nodePort}`)).out).toContain('pod default/web')
    await vi.waitFor(async () => {
      expect(await kubectl.ok('get events --field-selector involvedObject.name=low -o jsonpath={.items[*].reason}')).toBe('PortNotPermitted')
    }, { timeout: 40_000, interval: 200 })
  })

  it('is ended with all that it has started', async () => {
    await apply('forks', pod('forks', { containers: [container({ command: ['sh', '-c', 'setsid sleep 12345 & setsid sleep 12345 & wait'] })] }))
    await kubectl.ok('wait pod/forks --for=condition=Ready --timeout=60s')
    const left = () => spawnSync('pgrep', ['-f', 'sleep 12345']).stdout.toString().trim()
    expect(left()).not.toBe('')
    await kubectl.ok('delete pod forks --grace-period=0 --force')
    await vi.waitFor(() => expect(left()).toBe(''), { timeout: 40_000, interval: 100 })
  })
})
