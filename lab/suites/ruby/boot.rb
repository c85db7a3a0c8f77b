# frozen_string_literal: true

# Puts the folders of an unpacked Ruby where its built-in ones are in the load path. The launcher
# beside this file can only name them in RUBYLIB, which comes before all gems: a newer gem would
# be hidden by the older one in the standard library.
root = File.join(__dir__, "root/")
own, others = $LOAD_PATH.partition { |folder| folder.start_with?(root) }
# Of the machine's own folders none is this Ruby's.
others.reject! { |folder| folder.start_with?("/usr/lib/") }
$LOAD_PATH.replace(others + own)

# Gems that the standard library has, too: the newest one that is installed.
%w[bigdecimal json psych stringio].each do |name|
  gem name
rescue Gem::LoadError
  # Then the one in the standard library.
end
