import type { FunctionDeclaration, Library } from './declarations.ts'
import { type CelType, type ObjectType, typeType } from './types.ts'
import { TypeValue, type Value } from './values.ts'
import type { Reference } from './syntax/ast.ts'

interface EnvironmentOptions {
  libraries: readonly Library[]
  variables?: Record<string, CelType>
  /** Types of object literals by name: `Object.spec{replicas: 3}`. */
  messages?: Record<string, ObjectType>
  /** Looks up types of object literals that are not listed in `objects`. */
  resolveMessage?: (name: string) => ObjectType | undefined
  /** If true, all elements of a list literal must have the same type, as Kubernetes requires. */
  isHomogeneous?: boolean
}

/** A declared name: its type, and its value if it is a constant. */
export interface NameDeclaration extends Reference {
  type: CelType
}

/** The names that an expression may use. Immutable: `extend` returns a new environment. */
export class Environment {
  readonly isHomogeneous: boolean
  readonly #functions: ReadonlyMap<string, FunctionDeclaration>
  readonly #names: ReadonlyMap<string, NameDeclaration>
  readonly #messages: ReadonlyMap<string, ObjectType>
  readonly #resolveMessage: EnvironmentOptions['resolveMessage']

  private constructor(
    functions: ReadonlyMap<string, FunctionDeclaration>,
    names: ReadonlyMap<string, NameDeclaration>,
    messages: ReadonlyMap<string, ObjectType>,
    isHomogeneous: boolean,
    resolveMessage: EnvironmentOptions['resolveMessage'],
  ) {
    this.#functions = functions
    this.#names = names
    this.#messages = messages
    this.isHomogeneous = isHomogeneous
    this.#resolveMessage = resolveMessage
  }

  static of({
    libraries,
    variables = {},
    messages = {},
    isHomogeneous = true,
    resolveMessage,
  }: EnvironmentOptions): Environment {
    const functions = new Map<string, FunctionDeclaration>()
    const names = new Map<string, NameDeclaration>()
    for (const library of libraries) {
      for (const [name, overloads] of Object.entries(library.functions)) {
        const declared = functions.get(name)
        functions.set(name, { name, overloads: [...(declared?.overloads ?? []), ...overloads] })
      }
      for (const [name, type] of Object.entries(library.types ?? {})) names.set(name, typeConstant(name, type))
    }
    return new Environment(functions, names, new Map(), isHomogeneous, resolveMessage).extend(variables, messages)
  }

  /** Returns an environment with additional variables. A variable hides another variable of the same name. */
  extend(variables: Record<string, CelType>, messages: Record<string, ObjectType> = {}): Environment {
    const names = new Map(this.#names)
    for (const [name, type] of Object.entries(variables)) names.set(name, { name, type })
    const objects = new Map([...this.#messages, ...Object.entries(messages)])
    return new Environment(this.#functions, names, objects, this.isHomogeneous, this.#resolveMessage)
  }

  findFunction(name: string): FunctionDeclaration | undefined {
    return this.#functions.get(name.startsWith('.') ? name.slice(1) : name)
  }

  findName(name: string): NameDeclaration | undefined {
    return this.#names.get(name.startsWith('.') ? name.slice(1) : name)
  }

  findMessage(name: string): ObjectType | undefined {
    const wanted = name.startsWith('.') ? name.slice(1) : name
    return this.#messages.get(wanted) ?? this.#resolveMessage?.(wanted)
  }
}

const typeConstant = (name: string, type: CelType): NameDeclaration => {
  const constant: Value = new TypeValue(name)
  return { name, type: typeType(type), constant }
}
