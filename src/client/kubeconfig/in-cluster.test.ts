import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { VirtualClock } from '../../base/virtual-clock.ts'
import { inClusterAccess } from './in-cluster.ts'

let accountDir: string
beforeEach(() => void (accountDir = mkdtempSync(path.join(tmpdir(), 'coxswain-account-'))))
afterEach(() => rmSync(accountDir, { recursive: true, force: true }))

const write = (name: string, text: string) => writeFileSync(path.join(accountDir, name), text)
const env = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '6443' }

it("inClusterAccess() is the service account's, with a token that is read again", async () => {
  const clock = new VirtualClock()
  write('token', 'one')
  write('ca.crt', 'authority')
  write('namespace', 'mine\n')
  const access = inClusterAccess({ env, accountDir, clock })
  expect([access.server.origin, access.authority(), access.namespace]).toEqual(['https://10.0.0.1:6443', 'authority', 'mine'])
  expect(await access.credentials.current()).toMatchObject({ authorization: 'Bearer one' })
  write('token', 'two')
  await clock.advance(10_000)
  expect(await access.credentials.current()).toMatchObject({ authorization: 'Bearer two' })
})

it('inClusterAccess() knows addresses of IPv6, and does without a namespace', () => {
  write('token', 'one')
  write('ca.crt', 'authority')
  const access = inClusterAccess({ env: { ...env, KUBERNETES_SERVICE_HOST: 'fd00::1' }, accountDir })
  expect([access.server.origin, access.namespace]).toEqual(['https://[fd00::1]:6443', 'default'])
})

it('inClusterAccess() says what is missing', () => {
  expect(() => inClusterAccess({ env: {}, accountDir })).toThrow('this is not a pod of a cluster: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set')
  write('token', 'one')
  expect(() => inClusterAccess({ env, accountDir })).toThrow(/^the service account's certificate authority cannot be read: .*ca\.crt does not exist$/)
})
