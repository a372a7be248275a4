// One command as data: its help, its options and what it does stand in one object, from which both help and parser are made.
import type { Io } from "./io.js";

export interface OptionSpec {
  readonly type: "string" | "boolean";
  /** One letter that stands for it: `X`. */
  readonly short?: string;
  /** May be given several times. */
  readonly multiple?: true;
  /** How its value is called in help. */
  readonly value?: string;
  readonly description: string;
  /** The environment's name for the same setting, which it overrules. */
  readonly env?: string;
}

export type OptionSpecs = Readonly<Record<string, OptionSpec>>;

/** The values that a command is given: what was not written is not there. */
export type Values<Specs extends OptionSpecs> = {
  readonly [Name in keyof Specs]?: Specs[Name] extends { type: "boolean" }
    ? boolean
    : Specs[Name] extends { multiple: true }
      ? readonly string[]
      : string;
};

/** Values of any command, by the name of the option. */
export type Written = Readonly<Record<string, string | boolean | readonly string[]>>;

interface Facts {
  /** Its words, such as `keys create`. */
  readonly name: string;
  /** One sentence. */
  readonly summary: string;
  /** What it is called on after its name, such as `KEY`: each must be given, unless it stands in brackets. */
  readonly operands?: readonly string[];
  /** More sentences. */
  readonly details?: readonly string[];
  readonly examples?: readonly string[];
  /** Where it has more of them than every command has, or says more of them. */
  readonly exitCodes?: readonly (readonly [code: string, meaning: string])[];
}

export interface Definition<Specs extends OptionSpecs> extends Facts {
  readonly options: Specs;
  run(values: Values<Specs>, io: Io, operands: readonly string[]): Promise<void>;
}

export interface Command extends Facts {
  readonly options: OptionSpecs;
  /** Of values that were parsed by its own options. */
  run(written: Written, io: Io, operands: readonly string[]): Promise<void>;
}

/** A command whose `run` is typed by its own options. */
export function defineCommand<const Specs extends OptionSpecs>(definition: Definition<Specs>): Command {
  return {
    ...definition,
    // Safe because the parser gives each option the form that its own spec says.
    run: (written, io, operands) => definition.run(written as Values<Specs>, io, operands),
  };
}
