import type { Node } from '../syntax/ast.ts'
import { CelError, type ListValue, MapValue, Optional, PlainMap, type Value, noSuchOverload } from '../values.ts'
import type { CelType, ObjectType } from '../types.ts'
import { hasField, insertEntry, selectFrom } from './access.ts'
import { compileCall } from './calls.ts'
import type { Frame, NodeCompiler, Step } from './frame.ts'
import { compileLoop } from './loops.ts'

/** A variable that an expression uses, and its slot in a frame. */
export interface Slot {
  name: string
  index: number
}

/** An object that was created by a literal such as `Object.spec{replicas: 3}`. */
export class MessageValue extends MapValue {
  readonly fields: ReadonlyMap<string, Value>
  constructor(type: ObjectType, fields: ReadonlyMap<string, Value>) {
    super(type)
    this.fields = fields
  }
  override get size(): number {
    return this.fields.size
  }
  override get(key: Value): Value | undefined {
    return this.fields.get(key as string)
  }
  override keys(): Value[] {
    return [...this.fields.keys()]
  }
}

/** Compiles a checked expression to closures. A compiler is used for one expression. */
export class Compiler implements NodeCompiler {
  readonly slots: Slot[] = []
  /** Loop variables in the scope of the current node, with their slots in a frame. */
  readonly #locals: { name: string; index: number }[] = []
  slotCount = 0

  withLocals<T>(names: readonly string[], body: (indices: number[]) => T): T {
    const indices = names.map((name) => {
      const index = this.slotCount++
      this.#locals.push({ name, index })
      return index
    })
    const result = body(indices)
    this.#locals.length -= names.length
    return result
  }

  compile(node: Node): Step {
    switch (node.kind) {
      case 'literal': {
        const { value } = node
        return () => value
      }
      case 'ident':
        return this.#name(node.name, node.reference?.name, node.reference?.constant)
      case 'select':
        if (node.reference) return this.#name(node.reference.name, node.reference.name, node.reference.constant)
        return this.#select(this.compile(node.operand), node.field, node.isTest)
      case 'call':
        return compileCall(this, node)
      case 'list':
        return this.#list(node)
      case 'map':
        return this.#map(node)
      case 'message':
        return this.#message(node)
      case 'comprehension':
        return compileLoop(this, node)
      case 'bind': {
        const init = this.compile(node.init)
        return this.withLocals([node.name], ([index]) => {
          const result = this.compile(node.result)
          return (frame: Frame) => {
            frame.cost += 10
            frame.slots[index!] = init(frame)
            return result(frame)
          }
        })
      }
    }
  }

  #name(name: string, declared: string | undefined, constant: Value | undefined): Step {
    if (constant !== undefined) return () => constant
    const local = declared === undefined ? this.#locals.findLast((entry) => entry.name === name) : undefined
    if (local) {
      const { index } = local
      return (frame) => {
        frame.cost++
        return frame.slots[index]!
      }
    }
    const variable = declared ?? name
    let slot = this.slots.find((entry) => entry.name === variable)
    if (!slot) this.slots.push((slot = { name: variable, index: this.slotCount++ }))
    const { index } = slot
    return (frame) => {
      frame.cost++
      const value = frame.slots[index]
      if (value === undefined) throw new CelError(`no such attribute(s): ${variable}`)
      return value
    }
  }

  #select(operand: Step, field: string, isTest: boolean): Step {
    // Kubernetes does not charge for has().
    if (isTest) return (frame) => hasField(operand(frame), field)
    return (frame) => {
      frame.cost++
      const target = operand(frame)
      if (target instanceof MapValue) {
        const value = target.get(field)
        if (value !== undefined) return value
      }
      return selectFrom(target, field)
    }
  }

  #list(node: Node & { kind: 'list' }): Step {
    if (node.optional.size === 0 && node.elements.every((element) => element.kind === 'literal')) {
      const constant: ListValue = node.elements.map((element) => (element as { value: Value }).value)
      return () => constant
    }
    const steps = node.elements.map((element) => this.compile(element))
    const { optional } = node
    return (frame) => {
      frame.cost += 10
      const list: Value[] = []
      for (let i = 0; i < steps.length; i++) {
        const value = steps[i]!(frame)
        if (!optional.has(i)) list.push(value)
        else if (!(value instanceof Optional)) throw noSuchOverload()
        else if (value.value !== undefined) list.push(value.value)
      }
      return list
    }
  }

  #map(node: Node & { kind: 'map' }): Step {
    const entries = node.entries.map(({ key, value, isOptional }) => ({
      key: this.compile(key),
      value: this.compile(value),
      isOptional,
    }))
    return (frame) => {
      frame.cost += 30
      const map = new PlainMap()
      for (const { key, value, isOptional } of entries) {
        const [name, given] = [key(frame), value(frame)]
        if (!isOptional) insertEntry(map, name, given)
        else if (!(given instanceof Optional)) throw noSuchOverload()
        else if (given.value !== undefined) insertEntry(map, name, given.value)
      }
      return map
    }
  }

  #message(node: Node & { kind: 'message' }): Step {
    const fields = node.fields.map(({ name, value, isOptional }) => ({ name, value: this.compile(value), isOptional }))
    const type = node.type as CelType & { kind: 'object' }
    return (frame) => {
      frame.cost += 40
      const made = new Map<string, Value>()
      for (const { name, value, isOptional } of fields) {
        const given = value(frame)
        if (!isOptional) made.set(name, given)
        else if (given instanceof Optional && given.value !== undefined) made.set(name, given.value)
      }
      return new MessageValue(type, made)
    }
  }
}
