// SPDX-License-Identifier: MIT
// scenes.mjs -- plays scenes with a vendor's client, and prints what it let us see of each, a line of JSON each.

import { createRequire } from "node:module";
import { join } from "node:path";

const [, , npm, ...names] = process.argv;

export const wanted = names;

// A package from the folder that is the first argument.
export const load = createRequire(join(npm, "package.json"));

// What an error says to who catches it.
export function ofError(e) {
  return { thrown: e.constructor.name, status: e.status, type: e.type, message: e.message, error: e.error,
           request: e.requestID };
}

// {name: async () => what was seen}; those that are named by the other arguments, or all.
export async function play(scenes) {
  for (const [name, scene] of Object.entries(scenes)) {
    if (wanted.length && !wanted.includes(name)) continue;
    const seen = await scene().catch(ofError);
    process.stdout.write(JSON.stringify({ scene: name, seen }) + "\n");
  }
}

// What the tools say, whatever they are asked for.
export const tools = {
  read: () => "     1\tteh notes\n",
  edit: () => "notes.txt has been updated.",
  shell: ({ command }) => (command === "make test" ? "3 passed in 0.12s\n" : "notes.txt\n"),
};

export const schema = {
  type: "object",
  properties: Object.fromEntries(["path", "command", "old", "new"].map((name) => [name, { type: "string" }])),
};
