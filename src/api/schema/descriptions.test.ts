import { expect, it } from 'vitest'
import { describeField } from './descriptions.ts'

it.each([
  ['PodSpec', 'nodeName', /^NodeName indicates/i],
  ['PodSpec', '', /PodSpec is a description of a pod/],
  ['PodSpec', 'bogus', /^$/],
  ['Bogus', 'name', /^$/],
])('describeField() of %s %j', (type, field, expected) => {
  expect(describeField(type, field)).toMatch(expected)
})
