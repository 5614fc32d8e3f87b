import { describe, expect, it } from 'vitest'
import { defaultPullPolicy, imageTag } from './image-reference.ts'

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
