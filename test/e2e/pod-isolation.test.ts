import { lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startEverything } from '../kubectl/coxswain.ts'
import { Kubectl } from '../kubectl/kubectl.ts'
import { shellIn, successesOf, trespassesOn } from './trespasses.ts'

// Skipped if pods cannot have their own users: docs/runtimes.md.
const isRoot = process.getuid?.() === 0 && process.platform === 'linux'
// Not in /tmp: containers have one of their own, and could not get at anything there in any case.
const dir = isRoot ? mkdtempSync('/var/tmp/coxswain-isolation-') : ''
const data = path.join(dir, 'data')
const outside = path.join(dir, 'outside')
let server: Awaited<ReturnType<typeof startEverything>>
let kubectl: Kubectl

const container = (rest: object = {}) => ({ name: 'app', image: 'busybox', command: ['sleep', '1000'], ...rest })
const pod = (name: string, spec: object) => ({
  apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: { terminationGracePeriodSeconds: 0, containers: [container()], ...spec },
})

async function apply(name: string, ...objects: object[]): Promise<void> {
  const file = path.join(dir, `${name}.json`)
  writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }))
  await kubectl.ok(`apply -f ${file}`)
}

const shell = (name: string, line: string) => shellIn(kubectl, name, line)
const trespasses = () => trespassesOn({ kubectl, server, data, outside })
const successes = (name: string, tries: readonly string[]) => successesOf(kubectl, name, tries)

beforeAll(async () => {
  if (!isRoot) return
  mkdirSync(outside, { mode: 0o755 })
  process.env['OF_THE_SERVER'] = 'secret of the server'
  server = await startEverything(data, ['--store', 'lmdb', '--runtime', 'process', '--node-name', 'n1'])
  kubectl = new Kubectl(server.kubeconfig)
  await kubectl.ok('create secret generic keys --from-literal=key=of-victim')
  const volumes = [{ name: 'keys', secret: { secretName: 'keys', defaultMode: 0o400 } }, { name: 'open', secret: { secretName: 'keys' } }, { name: 'empty', emptyDir: {} }]
  const volumeMounts = [{ name: 'keys', mountPath: '/keys' }, { name: 'open', mountPath: '/open' }, { name: 'empty', mountPath: '/empty' }]
  await apply('pods',
    pod('victim', { volumes, containers: [container({ volumeMounts })] }),
    pod('thief', {}),
    pod('root', { securityContext: { runAsUser: 0, runAsGroup: 0, supplementalGroups: [0] } }),
    pod('privileged', { containers: [container({ securityContext: { privileged: true } })] }),
    pod('user', { securityContext: { runAsUser: 1234 } }))
  await kubectl.ok('wait pod --all --for=condition=Ready --timeout=60s')
}, 90_000)

afterAll(async () => {
  if (isRoot) {
    await kubectl?.run('delete pods --all --force --grace-period=0')
    kubectl?.remove()
    await server?.stop()
    rmSync(dir, { recursive: true, force: true })
  }
})

describe.runIf(isRoot)('a pod of the process runtime', () => {
  it('reads its own volumes, token and environment, and nothing of the server\'s environment', async () => {
    const { out } = await shell('victim', 'cat /keys/key /open/key; echo x > /empty/y; ls /var/run/secrets/kubernetes.io/serviceaccount; env')
    expect(out).toMatch(/^of-victimof-victimca.crt\nnamespace\ntoken\n/)
    expect(out).toContain('KUBERNETES_SERVICE_HOST=')
    expect(out).not.toContain('OF_THE_SERVER')
    expect((await kubectl.run('get node n1 -o jsonpath={.status.conditions[*].type}')).out).not.toContain('PodsIsolated')
  })

  it.each(['thief', 'root', 'user'])('cannot get at what is not its own: %s', async (name) => {
    expect(await successes(name, [...(await trespasses()), `kill -9 ${server.pid}`])).toEqual([])
    expect((await kubectl.run('get --raw /livez')).out).toBe('ok')
  })

  it('can if it is privileged', async () => {
    const tries = await trespasses()
    expect(await successes('privileged', tries)).toEqual(tries)
  })

  it('keeps no program with the rights of root', async () => {
    // An entry without a password, which su would take, if su had any rights.
    const forge = 'cp /etc/passwd /etc/p && echo root2::0:0::/:/bin/sh >> /etc/p && mv -f /etc/p /etc/passwd && grep -c root2 /etc/passwd'
    const { out } = await shell('thief', `id -u; id -un; ${forge}; su -c 'echo id=$(id -u)' root2 < /dev/null 2>&1 | grep id=`)
    expect(out).toMatch(/^19\d{8}\npod\n1\n$/)
    expect(readFileSync('/etc/passwd', 'utf8')).not.toContain('root2')
  })

  it('has the variables of its container only once it is nobody but itself', async () => {
    // A library that says who loads it would be loaded by root, if the programs that make the root directory had the environment.
    await apply('preload', pod('preload', { restartPolicy: 'Never', containers: [container({ command: ['sh', '-c', 'echo $LD_PRELOAD $BASH_ENV'], env: [{ name: 'LD_PRELOAD', value: `${outside}/none.so` }, { name: 'BASH_ENV', value: '/x' }] })] }))
    await kubectl.ok('wait pod/preload --for=jsonpath={.status.phase}=Succeeded --timeout=60s')
    const log = await kubectl.ok('logs preload')
    expect(log).toContain(`${outside}/none.so /x`)
    expect(log.split('\n').filter((text) => text.includes('cannot be preloaded')).every((text) => /'(env|sh)'|object/.test(text))).toBe(true)
  })
})

describe.runIf(isRoot)('a volume', () => {
  const expectEvent = (name: string, reason: string, text: string) => vi.waitFor(async () => {
    const events = await kubectl.ok(`get events --field-selector involvedObject.name=${name},reason=${reason} -o jsonpath={.items[*].message}`)
    expect(events).toContain(text)
  }, { timeout: 40_000, interval: 200 })

  it.each<[string, () => string]>([
    ['the data directory', () => data],
    ['a key', () => path.join(data, 'pki')],
    ['a link to it', () => path.join(outside, 'link')],
  ])('is refused that shows %s', async (what, target) => {
    rmSync(path.join(outside, 'link'), { force: true })
    symlinkSync(data, path.join(outside, 'link'))
    const name = `host-${what.replaceAll(' ', '-')}`
    await apply(name, pod(name, { volumes: [{ name: 'v', hostPath: { path: target() } }], containers: [container({ volumeMounts: [{ name: 'v', mountPath: '/v' }] })] }))
    await expectEvent(name, 'FailedMount', 'is in a directory of the control plane')
  })

  it('is refused whose subPath is a link that leads out', async () => {
    const made = path.join(outside, 'volume')
    mkdirSync(made, { recursive: true })
    symlinkSync(path.join(data, 'pki'), path.join(made, 'out'))
    await apply('sub', pod('sub', { volumes: [{ name: 'v', hostPath: { path: made } }], containers: [container({ volumeMounts: [{ name: 'v', mountPath: '/v', subPath: 'out' }] })] }))
    await expectEvent('sub', 'Failed', 'failed to prepare subPath for volumeMount "v" of container "app"')
  })

  it('of a claim belongs to whoever mounts it, one pod after the other', async () => {
    const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Mi' } } } }
    const writer = (name: string, line: string) => pod(name, {
      restartPolicy: 'Never', volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }],
      containers: [container({ command: ['sh', '-c', line], volumeMounts: [{ name: 'v', mountPath: '/v' }] })],
    })
    await apply('first', claim, writer('first', 'mkdir -m 700 /v/own && echo one > /v/own/file'))
    await kubectl.ok('wait pod/first --for=jsonpath={.status.phase}=Succeeded --timeout=60s')
    await kubectl.ok('delete pod first')
    await apply('second', writer('second', 'echo two >> /v/own/file && cat /v/own/file'))
    await kubectl.ok('wait pod/second --for=jsonpath={.status.phase}=Succeeded --timeout=60s')
    expect(await kubectl.ok('logs second')).toBe('one\ntwo\n')
    expect(lstatSync(path.join(data, 'volumes')).mode & 0o777).toBe(0o700)
  })
})
