import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Pod } from '../../api/generated/types.ts'
import { samplePod } from '../sample-pod.ts'
import { PodUsers, isPodUser } from './pod-users.ts'

let dir: string

beforeEach(() => (dir = mkdtempSync(path.join(tmpdir(), 'coxswain-users-'))))
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const open = (isolates = true) => new PodUsers(path.join(dir, 'users.json'), async () => isolates)
const podOf = (uid: string, ...claims: string[]): Pod => {
  const pod = samplePod({ volumes: claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })) })
  return { ...pod, metadata: { ...pod.metadata, uid } }
}

describe('PodUsers', () => {
  it('gives every pod a user of its own, and the same one each time', async () => {
    const users = open()
    const [a, b] = [await users.of(podOf('a')), await users.of(podOf('b'))]
    expect([isPodUser(a!), isPodUser(b!), a === b]).toEqual([true, true, false])
    expect(await users.of(podOf('a'))).toBe(a)
  })

  it('remembers them, and does not hand out again what was given back', async () => {
    const users = open()
    const [a, b] = [await users.of(podOf('a')), await users.of(podOf('b'))]
    users.release('b')
    const again = open()
    expect(await again.of(podOf('a'))).toBe(a)
    expect([a, b]).not.toContain(await again.of(podOf('c')))
  })

  it('gives pods that mount the same claim the same user, one after the other', async () => {
    const users = open()
    const first = await users.of(podOf('a', 'data', 'logs'))
    users.release('a')
    expect(await open().of(podOf('b', 'logs'))).toBe(first)
    expect(await users.of(podOf('c', 'other'))).not.toBe(first)
  })

  it('gives none where the runtime cannot', async () => {
    expect(await open(false).of(podOf('a'))).toBeUndefined()
  })

  it('refuses a file that cannot be read rather than begin anew', () => {
    writeFileSync(path.join(dir, 'users.json'), '{"next"')
    expect(() => open()).toThrow(path.join(dir, 'users.json'))
    expect(readFileSync(path.join(dir, 'users.json'), 'utf8')).toBe('{"next"')
  })
})
