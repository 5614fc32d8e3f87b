import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ServerBundle, bundleOf, flagsOf, keepBundle, keptBundle, newBundleKey, openBundle, sealBundle } from './server-bundle.ts'
import { chooseServiceRange } from '../serving/service-range.ts'

let dir: string
beforeAll(() => void (dir = mkdtempSync(path.join(tmpdir(), 'server-bundle-'))))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const bundle: ServerBundle = {
  etcd: { servers: ['https://10.0.0.1:2379'], prefix: '/registry', ca: 'a ca', certificate: 'a certificate', key: 'a key' },
  encryption: 'kind: EncryptionConfiguration', tokenIssuers: ['https://issuer'], nodePorts: [30000, 30100],
}

it('a bundle is opened with its key, and with no other', () => {
  const key = newBundleKey()
  const sealed = sealBundle(bundle, key)
  expect(sealed.toString()).not.toContain('a key')
  expect(openBundle(sealed, key)).toEqual(bundle)
  expect(() => openBundle(sealed, newBundleKey())).toThrow()
  const changed = Buffer.from(sealed)
  changed[sealed.length - 1]! ^= 1
  expect(() => openBundle(changed, key)).toThrow()
  expect(() => openBundle(Buffer.alloc(0), key)).toThrow()
})

it('what a server would tell, another one uses: files that only it can read', () => {
  const flags = flagsOf(bundle, dir, false)
  expect(flags).toMatchObject({ store: 'etcd', tokenIssuers: ['https://issuer'], nodePorts: [30000, 30100], etcd: { servers: ['https://10.0.0.1:2379'], prefix: '/registry' } })
  expect(readFileSync(flags.etcd!.keyFile!, 'utf8')).toBe('a key')
  expect(statSync(flags.etcd!.keyFile!).mode & 0o777).toBe(0o600)
  expect(bundleOf(flags)).toEqual(bundle)
})

it('does not replace files that were renewed since', () => {
  const { etcd } = flagsOf(bundle, dir, false)
  writeFileSync(etcd!.certFile!, 'a newer certificate')
  const again = flagsOf(bundle, dir, true)
  expect(again.etcd).toEqual(etcd)
  expect(bundleOf(again)!.etcd).toEqual({ ...bundle.etcd, certificate: 'a newer certificate' })
  // A server that joins anew gets those of its cluster.
  expect(bundleOf(flagsOf(bundle, dir, false))).toEqual(bundle)
})

it('is kept in the data directory', () => {
  expect(keptBundle(path.join(dir, 'none'))).toBeUndefined()
  keepBundle(dir, bundle)
  expect(keptBundle(dir)).toEqual(bundle)
})

it('without etcd there is none, and without certificates it has none', () => {
  const file = path.join(dir, 'ca')
  writeFileSync(file, 'x')
  expect(bundleOf({ etcd: undefined })).toBeUndefined()
  expect(bundleOf({ etcd: { servers: ['http://a'], prefix: '/p', caFile: file, certFile: undefined, keyFile: undefined } })!.etcd).toEqual({ servers: ['http://a'], prefix: '/p', ca: 'x', certificate: undefined, key: undefined })
})

it('a server that joins leaves the range of cluster IPs as it is, wherever its own pods are', async () => {
  const choice = { given: undefined, place: 'loopback' as const, dataDir: dir }
  expect(await chooseServiceRange({ ...choice, isShared: true }, '10.0.0.0/24')).toBe('10.0.0.0/24')
  expect(await chooseServiceRange({ ...choice, isShared: false }, '10.0.0.0/24')).toMatch(/^127\./)
  expect(await chooseServiceRange({ ...choice, given: '10.9.0.0/24', isShared: true }, '10.0.0.0/24')).toBe('10.9.0.0/24')
})
