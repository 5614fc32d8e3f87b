import { describe, expect, it } from 'vitest'
import { defaultPullPolicy, imageTag, invalidImageName } from './image-reference.ts'

const digest = `sha256:${'ab'.repeat(32)}`

describe('imageTag()', () => {
  it.each([
    ['busybox', 'latest'],
    ['busybox:latest', 'latest'],
    ['busybox:1.36', '1.36'],
    ['registry.example.com:5000/a/b', 'latest'],
    ['registry.example.com:5000/a/b:v2', 'v2'],
    ['[fd00::1]:5000/a:v2', 'v2'],
    [`busybox@${digest}`, ''],
    [`busybox:latest@${digest}`, 'latest'],
    ['busybox:latest@sha256:abababababababababababababababababab', ''],
    [' busybox ', ''],
    ['UPPER', ''],
    ['UPPER/case', 'latest'],
    ['case/UPPER', ''],
    ['', ''],
  ])('of %j is %j', (image, tag) => {
    expect(imageTag(image)).toBe(tag)
  })
})

describe('defaultPullPolicy()', () => {
  it('pulls always what moves, and else when it is not there', () => {
    expect(defaultPullPolicy('a')).toBe('Always')
    expect(defaultPullPolicy('a:1')).toBe('IfNotPresent')
  })
})

describe('invalidImageName()', () => {
  it.each(['busybox', 'busybox:1.36', 'a/b/c', 'localhost/a', 'localhost:5000/a:1', 'UPPER/case', `registry.example.com/a@${digest}`, `a:1@${digest}`])(
    'accepts %s',
    (image) => {
      expect(invalidImageName(image)).toBeUndefined()
    },
  )

  it.each([
    ['BUSYBOX', 'invalid reference format: repository name (library/BUSYBOX) must be lowercase'],
    ['shop/Web:1', 'invalid reference format: repository name (shop/Web) must be lowercase'],
    ['nginx:bad/..', 'invalid reference format'],
    ['nginx:', 'invalid reference format'],
    ['a//b', 'invalid reference format'],
    ['-a', 'invalid reference format'],
    ['a b', 'invalid reference format'],
    ['a@sha256:12', 'invalid reference format'],
    ['ab'.repeat(32), `invalid repository name (${'ab'.repeat(32)}), cannot specify 64-byte hexadecimal strings`],
    [`a/${'b'.repeat(255)}`, 'repository name must not be more than 255 characters'],
  ])('refuses %s', (image, message) => {
    expect(invalidImageName(image)).toBe(message)
  })
})
